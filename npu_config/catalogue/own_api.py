"""What npu_config itself offers to scripts, as data: the reader of scripts looks at calls of it.

``tests/script/test_own_calls.py`` holds the tables to the package.
"""

import inspect
from typing import Dict, Mapping, Tuple

from npu_config.catalogue.api import table

NAMES: Tuple[str, ...] = table("""\
names:
    Diagnostic NpuConfig NpuConfigBuilder NpuConfigError OPTIONS OverwrittenWarning Product RULES
    Report Severity Target UNKNOWN add_arguments check diagnose install_npu_bridge migrate record
    run_path
""")["names"]
"""What ``from npu_config import`` gives, modules left out."""

_EMPTY = inspect.Parameter.empty
_KINDS = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


def _signature(words: Tuple[str, ...]) -> inspect.Signature:
    """``name`` must be given, ``name=`` may be, ``*name`` and ``**name`` take any."""
    return inspect.Signature(
        [
            inspect.Parameter(
                word.strip("*="),
                _KINDS[word.count("*")],
                default=None if word.endswith("=") else _EMPTY,
            )
            for word in words
        ]
    )


def _signatures(text: str) -> Dict[str, inspect.Signature]:
    return {name: _signature(words) for name, words in table(text).items()}


CONSTRUCTORS: Mapping[str, inspect.Signature] = _signatures("""\
NpuConfig: options target= on_host=
NpuConfig.from_dict: options target= on_host=
NpuConfig.from_config_proto: config target=
NpuConfig.load: path target= on_host= overrides=
NpuConfigBuilder: target=
Target: product= mode= cann= adapter=
""")
"""The calls that make objects, by dotted name."""

BUILDER_METHODS: Mapping[str, inspect.Signature] = _signatures("""\
build: strict= on_host=
set: **options
unset: *names
update: other
""")
"""The methods of NpuConfigBuilder beside its tasks (``npu_config.rules.tasks``)."""

CONFIG_METHODS: Mapping[str, inspect.Signature] = _signatures("""\
evolve: **options
wire_values:
to_dict:
to_config_proto: base=
to_pbtxt:
to_bytes:
to_run_config_kwargs:
to_run_config: **arguments
save: path overwrite=
save_side_files: directory overwrite=
""")
"""The methods of NpuConfig, but for those that every mapping has."""

METHODS: Mapping[str, inspect.Signature] = {
    **BUILDER_METHODS,
    **CONFIG_METHODS,
    **_signatures("""\
get: key default=
items:
keys:
values:
"""),
}
"""The methods of both classes that are no tasks."""
