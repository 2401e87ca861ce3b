"""The actions of the tool that a call asks for, and what they write into a parameter_map."""

import json
import logging
import os
import re
from typing import Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple, Union

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.precision_tool import (
    ACTIONS,
    ALWAYS,
    DUMP_DIRECTORY,
    NPU_DIRECTORY,
    OVERFLOW_DIRECTORY,
    ROOT,
    Value,
    named_in,
)
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Severity
from npu_config.core.findings import tell
from npu_config.core.rule import declare

_LOG = logging.getLogger("npu_config")


@declare(
    "NPU380",
    Severity.ERROR,
    facts=("precision-tool-overflow-first", "precision-tool-env-switch"),
    source=("article:002",),
)
def unknown_action() -> None:
    """An action of the precision tool that does not exist, or two that exclude each other.

    Actions are `overflow`, `dump`, `fusion_off`, `fusion_switch` and `prof`, joined by `|`. The
    original tool looks for these words inside the text: a misspelt action does nothing, and of
    `overflow|dump` the dump is dropped without a word.

    Wrong: `session_dump_config(config, action="overflw")`

    Right: `session_dump_config(config, action="overflow|fusion_off")`
    """


GRAPH_DIRECTORY = NPU_DIRECTORY + "/graph"
PROFILING_DIRECTORY = NPU_DIRECTORY + "/prof"
TFDBG_DIRECTORY = ROOT + "/tf/tf_debug"
# The original keeps these two inside its own package.
FUSION_OFF_FILE = ROOT + "/config/fusion_off.cfg"
FUSION_SWITCH_FILE = ROOT + "/config/fusion_switch.cfg"

_SWITCHES = {"overflow": "PRECISION_TOOL_OVERFLOW", "dump": "PRECISION_TOOL_DUMP"}
_PROFILING = {
    "output": PROFILING_DIRECTORY,
    "storage_limit": "1000MB",
    "training_trace": "on",
    "l2": "on",
    "hccl": "on",
    "task_trace": "on",
    "aicpu": "on",
    "fp_point": "",
    "bp_point": "",
    "aic_metrics": "PipeUtilization",
    "msproftx": "on",
}

Action = Union[None, str, Iterable[str]]
Values = Dict[str, Tuple[str, Value]]


def chosen(action: Action, environment: Optional[Mapping[str, str]] = None) -> FrozenSet[str]:
    """The actions that an argument, or without one the environment, asks for.

    Args:
        action: names joined by ``|`` (or ``,``, ``;``, ``+`` or blanks), or several names;
            None: the switches ``PRECISION_TOOL_OVERFLOW`` and ``PRECISION_TOOL_DUMP``.
        environment: where to look for the switches; None: the process's environment.

    Raises:
        NpuConfigError: an action is unknown, or overflow and dump are both asked for.
    """
    if action is None:
        names = _switched(os.environ if environment is None else environment)
    elif isinstance(action, str):
        names = [name for name in re.split(r"[|,;+\s]+", action) if name]
    else:
        names = list(action)
    found = [
        unknown_action.diagnostic(
            'unknown action "{}"; legal: {}'.format(name, ", ".join(ACTIONS)),
            help='join several actions by "|", e.g. "overflow|fusion_off"',
        )
        for name in names
        if name not in ACTIONS
    ]
    if "overflow" in names and "dump" in names:
        found.append(exclusive("both are asked for"))
    if found:
        raise NpuConfigError(found)
    return frozenset(names)


def exclusive(how: str) -> Diagnostic:
    """The finding that overflow detection and data dump are both on."""
    return unknown_action.diagnostic(
        'the actions "overflow" and "dump" exclude each other ({}); the graph engine refuses '
        "a session with both".format(how),
        help="run twice: first with overflow, then with dump",
    )


def _switched(environment: Mapping[str, str]) -> List[str]:
    names = []
    for name, variable in _SWITCHES.items():
        value = environment.get(variable)
        if value == "True":
            names.append(name)
        elif value not in (None, "", "False"):
            finding = unknown_action.diagnostic(
                '{} is "{}"; only "True" switches it on'.format(variable, value),
                help="set {}=True, or unset it".format(variable),
                severity=Severity.WARNING,
            )
            tell(finding)
            _LOG.warning("%s", finding.message)
    return names


def values(actions: FrozenSet[str]) -> Values:
    """Option name to the AttrValue field and the value that the actions set."""
    own = {
        "fusion_off": FUSION_OFF_FILE,
        "fusion_switch": FUSION_SWITCH_FILE,
        "prof": json.dumps(_PROFILING),
    }
    found = dict(ALWAYS)
    for name in named_in(" ".join(actions)):
        for option, value in ACTIONS[name].items():
            found[option] = own[name] if value is None else value
    return {name: (OPTIONS[name].kind.wire, value) for name, value in found.items()}


def directories(actions: FrozenSet[str]) -> Tuple[str, ...]:
    """The directories that must exist for the actions."""
    needed = {
        "overflow": OVERFLOW_DIRECTORY,
        "dump": DUMP_DIRECTORY,
        "prof": PROFILING_DIRECTORY,
        "fusion_off": os.path.dirname(FUSION_OFF_FILE),
        "fusion_switch": os.path.dirname(FUSION_SWITCH_FILE),
    }
    found = [needed[name] for name in ACTIONS if name in actions]
    return tuple(dict.fromkeys([NPU_DIRECTORY, *found])) if actions else ()
