"""Writers: from a configuration to every output.

A format is a function of the configuration and an entry in :data:`FORMATS`; ``run_config`` has
the longest one, for calls of NPURunConfig.
"""

import json
import os
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    Union,
)

from npu_config.catalogue import OPTIONS, REMOVED
from npu_config.catalogue.layout import EXTENDS, VERSION, grouped
from npu_config.core.paths import PathLike, path_name
from npu_config.core.target import ANY_TARGET, Target
from npu_config.rules.value import ConfigValue
from npu_config.text.plain_text import is_plain_yaml, is_utf8
from npu_config.writers.run_config import to_call
from npu_config.writers.shared import (
    NO_NOTES,
    Notes,
    comment,
    quoted,
    refuse_bytes,
    refuse_removals,
)

__all__ = [
    "FORMATS",
    "LAYERED",
    "ExtendingFile",
    "WITHOUT_COMMENTS",
    "render",
    "render_for",
    "scalar",
]


class ExtendingFile(NamedTuple):
    """What a file holds that extends others, in place of everything.

    Args:
        extends: the files, as the new one names them.
        options: the options that it sets.
        removed: those that it takes away.
        target: what it says of the target; None: what they say.
    """

    extends: Tuple[str, ...]
    options: FrozenSet[str]
    removed: Tuple[str, ...] = ()
    target: Optional[Target] = None


def _tree(config: ConfigValue, layer: Optional[ExtendingFile] = None) -> Dict[str, Any]:
    """Version, options without a group (a table of TOML would take them), target, and groups."""
    values: Dict[str, Any] = config.to_dict()
    target: Target = config.target
    root: Dict[str, Any] = {"version": VERSION}
    if layer is not None:
        root[EXTENDS] = layer.extends[0] if len(layer.extends) == 1 else list(layer.extends)
        target = layer.target or ANY_TARGET
        values = {name: value for name, value in values.items() if name in layer.options}
        values.update(dict.fromkeys(layer.removed))
    root.update((name, value) for name, value in values.items() if name in REMOVED)
    known = {
        "product": None if target.product is None else target.product.value,
        "mode": target.mode,
        "cann": target.cann,
        "adapter": target.adapter,
    }
    if any(known.values()):
        root["target"] = {key: value for key, value in known.items() if value is not None}
    for group, names in grouped(tuple(values)):
        root[group.key] = {name: values[name] for name in names}
    return root


def _by_group(
    config: ConfigValue,
    notes: Notes,
    layer: Optional[ExtendingFile],
    heading: str,
    line: str,
    written: Callable[[Any], str],
) -> str:
    """A line for each option below the heading of its group, after the comments about it."""
    indent = line[: len(line) - len(line.lstrip())]
    lines = notes.head()
    for key, value in _tree(config, layer).items():
        if isinstance(value, dict):
            lines.extend(("", heading.format(key)))
            for name, item in value.items():
                lines.extend(indent + each for each in notes.beside(name))
                if name in OPTIONS and OPTIONS[name].needed_for:
                    lines.append(indent + comment(OPTIONS[name].standing))
                lines.append(line.format(name, written(item)))
        else:
            lines.extend(notes.beside(key))
            lines.append(line.lstrip().format(key, written(value)))
    return "\n".join([*lines, *notes.rest(config.options)]) + "\n"


def _yaml(config: ConfigValue, notes: Notes, layer: Any) -> str:
    """Text in quotes where a parser might read something else."""
    refuse_bytes(config, "YAML")
    return _by_group(config, notes, layer, "{}:", "  {}: {}", scalar)


def scalar(value: Any) -> str:
    """A value as YAML 1.1 and 1.2 both read it."""
    if value is None:
        return "null"
    return value if isinstance(value, str) and is_plain_yaml(value) else _toml_scalar(value)


def _toml(config: ConfigValue, notes: Notes, layer: Any) -> str:
    refuse_bytes(config, "TOML")
    refuse_removals(() if layer is None else layer.removed, "TOML")
    return _by_group(config, notes, layer, "[{}]", "{} = {}", _toml_scalar)


def _toml_scalar(value: Any) -> str:
    if isinstance(value, list):
        return "[{}]".format(", ".join(map(_toml_scalar, value)))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else quoted(value)


def _json(config: ConfigValue, _: Notes, layer: Any) -> str:
    refuse_bytes(config, "JSON")
    return json.dumps(_tree(config, layer), indent=2, ensure_ascii=False) + "\n"


def _pbtxt(config: ConfigValue, notes: Notes, proto: Any) -> str:
    """The text that TensorFlow's own text format reads."""
    from npu_config.proto import to_text

    text = config.to_pbtxt() if proto is None else to_text(proto)
    return "".join(line + "\n" for line in notes.comments(config.options)) + text


def _pb(config: ConfigValue, _: Notes, proto: Any) -> bytes:
    """The bytes that ``tf.ConfigProto.FromString`` reads."""
    from npu_config.proto import to_bytes

    return config.to_bytes() if proto is None else to_bytes(proto)


_PYTHON_HEAD = """\
import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

# On the training host, before the session: from npu_bridge.npu_init import *

config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""

_PYTHON_TAIL = """\
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT
config.graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.OFF
"""


def _python(config: ConfigValue, notes: Notes, _: Any) -> str:
    """Code that ends with ``config``, equal to ``config.to_config_proto()``."""
    lines = ["{}\n".format(line) for line in notes.comments(config.options)]
    for name, (field, value) in config.wire_values().items():
        lines.append(
            'custom_op.parameter_map["{}"].{} = {}{}\n'.format(
                name, field, _bytes_literal(value), notes.behind(name)
            )
        )
    return _PYTHON_HEAD + "".join(lines) + _PYTHON_TAIL


def _builder(config: ConfigValue, notes: Notes, _: Any) -> str:
    """Calls of NpuConfigBuilder that end with ``config``, equal to this configuration."""
    target = ", ".join(
        "{}={}".format(name, quoted(getattr(value, "value", value)))
        for name in ("product", "mode", "cann", "adapter")
        for value in [getattr(config.target, name)]
        if value is not None
    )
    lines = ["import npu_config as npu\n\n"]
    lines += ["{}\n".format(line) for line in notes.comments(config.options)]
    lines += ["config = (\n", "    npu.NpuConfigBuilder("]
    lines += ["npu.Target({})".format(target) if target else "", ")\n"]
    for name, value in config.to_dict().items():
        shown = quoted(value) if isinstance(value, str) and is_utf8(value) else repr(value)
        lines.append("    .set({}={}){}\n".format(name, shown, notes.behind(name)))
    return "".join(lines) + "    .build()\n)\n"


def _bytes_literal(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    if not is_utf8(value):
        return repr(value.encode("utf-8", "surrogateescape"))
    return "tf.compat.as_bytes({})".format(quoted(value))


_ENV_HEAD = (
    "# Source this before the job starts; `npu-config env` writes the variables of the launch.\n"
)


def _env(config: ConfigValue, notes: Notes, _: Any) -> str:
    """Lines for ``sh``: what must be exported, and what must not be set.

    A value that is not in the configuration (the number of training steps) is asked for: the
    shell stops with a message when it is not set.
    """
    lines: List[str] = []
    comments = notes.comments(config.options)
    options = config.options
    mode = options.get("experimental_accelerate_train_mode")
    if mode is not None:
        lines.append(
            "# experimental_accelerate_train_mode: TellMeStepOrLossHook keeps them current"
        )
        if mode[1] == "step":
            lines.append(_required("TOTAL_STEP", "the number of training steps"))
            lines.append('export STEP_NOW="${STEP_NOW:-0}"')
        else:
            lines.append(_required("TARGET_LOSS", "the loss that the training aims at"))
            lines.append(_required("LOSS_NOW", "the loss that the training starts with"))
    if "auto_multistream_parallel_mode" in options:
        lines.append("# auto_multistream_parallel_mode needs it for graphs of dynamic shape")
        lines.append("export ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=1")
    if "static_memory_policy" in options:
        lines.append("# static_memory_policy must not be combined with it")
        lines.append("unset GE_USE_STATIC_MEMORY")
    if not lines:
        lines.append("# No option of this configuration needs a variable.")
    return _ENV_HEAD + "\n".join([*comments, *lines]) + "\n"


def _required(name: str, what: str) -> str:
    return 'export {0}="${{{0}:?set it to {1}}}"'.format(name, what)


class OutputFormat(NamedTuple):
    """A format that can be written: the function that does, and the suffixes that ask for it.

    The function takes the configuration, the comments, and the ConfigProto or the layer.
    """

    write: Callable[[ConfigValue, Notes, Any], Union[str, bytes]]
    suffixes: Tuple[str, ...] = ()


FORMATS: Mapping[str, OutputFormat] = {
    "yaml": OutputFormat(_yaml, (".yaml", ".yml")),
    "toml": OutputFormat(_toml, (".toml",)),
    "json": OutputFormat(_json, (".json",)),
    "pbtxt": OutputFormat(_pbtxt, (".pbtxt",)),
    "pb": OutputFormat(_pb, (".pb",)),
    "python": OutputFormat(_python),
    "builder": OutputFormat(_builder),
    "run-config": OutputFormat(to_call),
    "env": OutputFormat(_env),
}
"""What can be written."""

LAYERED = ("yaml", "toml", "json")
"""The formats of files that may extend others."""

WITHOUT_COMMENTS = ("json", "pb")
"""The formats that carry values alone."""


def render(
    config: ConfigValue,
    to: str,
    notes: Notes = NO_NOTES,
    proto: Any = None,
    layer: Optional[ExtendingFile] = None,
) -> Union[str, bytes]:
    """The configuration in one of :data:`FORMATS`.

    Args:
        config: what to write.
        to: the format.
        notes: what to say beside the values; :data:`WITHOUT_COMMENTS` cannot.
        proto: the ConfigProto to write, in place of one that is made of the configuration.
        layer: what to write of it, for :data:`LAYERED` formats; None: everything.

    Raises:
        ValueError: ``to`` is not one of them.
        NpuConfigError: the format cannot carry an option that is set.
    """
    if to not in FORMATS:
        raise ValueError('unknown format "{}"; legal: {}'.format(to, ", ".join(FORMATS)))
    return FORMATS[to].write(config, notes, proto if layer is None else layer)


def render_for(config: ConfigValue, path: PathLike) -> Union[str, bytes]:
    """The configuration in the format that the suffix of ``path`` asks for.

    Raises:
        ValueError: no format has this suffix.
        NpuConfigError: the format cannot carry an option that is set.
    """
    suffix = os.path.splitext(path_name(path))[1].lower()
    for name, entry in FORMATS.items():
        if suffix in entry.suffixes:
            return render(config, name)
    legal = ", ".join(suffix for entry in FORMATS.values() for suffix in entry.suffixes)
    raise ValueError('no format has the suffix "{}"; legal: {}'.format(suffix, legal))
