"""The functions of ``precision_tool.tf_config`` that training scripts call.

Same names, arguments and parameter_map as the original, with these differences, all of them
deliberate: importing does nothing (no seed is set, nothing is printed); an unknown action
and the pair overflow with dump are errors; memory optimization is switched off with the
enum value that means off, and XLA is off, too; the fusion switch files lie in
``precision_data/config`` instead of inside the package and are never overwritten; what is
replaced in a given ConfigProto is reported.

Source: facts api.md, section 11.
"""

import importlib
import importlib.util
import json
import logging
import os
import random
import re
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple, Union

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.precision_tool import (
    ACTIONS,
    ALWAYS,
    DUMP_DIRECTORY,
    DUMP_STEP,
    NPU_DIRECTORY,
    OVERFLOW_DIRECTORY,
    ROOT,
    Value,
    named_in,
)
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Severity, declare
from npu_config.core.findings import tell
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.rules.overwritten import warn_overwritten
from npu_config.text.files import write_atomic

_LOG = logging.getLogger("npu_config")


@declare(
    "NPU380",
    Severity.ERROR,
    facts=("precision-tool-overflow-first", "precision-tool-env-switch"),
    source=("article:002",),
)
def unknown_action() -> None:
    """The precision tool does not know an action, or two actions cannot be used together.

    Actions are `overflow`, `dump`, `fusion_off`, `fusion_switch` and `prof`, joined by `|`.
    The original tool only searches the text for these words: a misspelt action has no effect,
    and in `overflow|dump` the tool ignores `dump` without a warning.

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


DUMP_SEED = 2022


@declare("NPU382", Severity.ERROR, source=("TensorFlow 1.15 tfdbg DumpingDebugWrapperSession",))
def tfdbg_directory_in_use() -> None:
    """The dump directory of tfdbg is not empty.

    tfdbg requires an empty directory, because two recordings in one directory would make both
    useless. npu_config deletes nothing.

    Wrong: `sess_dump(sess)` in a directory with the `precision_data/tf/tf_debug` of another run

    Right: move the old recording away, or `sess_dump(sess, directory="precision_data/tf/run2")`
    """


def session_dump_config(session_config: Any = None, action: Action = None) -> Any:
    """Put the options of an action into a session configuration.

    Args:
        session_config: a ConfigProto, which is changed in place; anything else becomes a new
            one.
        action: ``"overflow"``, ``"dump"``, ``"fusion_off"``, ``"fusion_switch"``, ``"prof"``, or
            several joined by ``"|"``; None: what the environment variables
            ``PRECISION_TOOL_OVERFLOW`` and ``PRECISION_TOOL_DUMP`` ask for.

    Returns:
        The ConfigProto.

    Raises:
        NpuConfigError: the action is unknown, or overflow and dump would both be on.
    """
    from npu_config.proto import config_proto_class

    actions = chosen(action)
    if not hasattr(session_config, "graph_options"):
        session_config = config_proto_class()()
    graph_options = session_config.graph_options
    rewrite = graph_options.rewrite_options
    entries = [entry for entry in rewrite.custom_optimizers if entry.name == NPU_OPTIMIZER]
    # An entry is edited where it is: scripts hold on to it and go on adding options.
    custom_op = entries[-1] if entries else rewrite.custom_optimizers.add(name=NPU_OPTIMIZER)
    _update(custom_op, actions)
    custom_op.parameter_map["use_off_line"].b = True
    _switch(rewrite, "remapping", "OFF")
    _switch(rewrite, "memory_optimization", "NO_MEM_OPT")
    _switch(graph_options.optimizer_options, "global_jit_level", "OFF")
    return session_config


def update_custom_op(custom_op: Any, action: Action = None) -> Any:
    """Put the options of an action into a custom optimizer entry, and return it.

    Args:
        custom_op: an entry of ``rewrite_options.custom_optimizers``; changed in place.
        action: as for :func:`session_dump_config`.

    Raises:
        NpuConfigError: as :func:`session_dump_config`; nothing is changed then.
    """
    _update(custom_op, chosen(action))
    return custom_op


def estimator_dump_config(action: Action = None) -> Any:
    """The DumpConfig of an action for NPURunConfig; empty for actions that dump nothing.

    Args:
        action: as for :func:`session_dump_config`.

    Returns:
        The vendor's DumpConfig where ``npu_bridge`` can be imported, else npu_config's.

    Raises:
        NpuConfigError: as :func:`session_dump_config`.
    """
    from npu_config.tf1 import vendor
    from npu_config.tf1.run_config_parts import DumpConfig

    actions = chosen(action)
    make = vendor.find("npu_config", "DumpConfig") or DumpConfig
    _make_directories(actions & {"overflow", "dump"})
    if "overflow" in actions:
        return make(enable_dump_debug=True, dump_path=OVERFLOW_DIRECTORY, dump_mode="all")
    if "dump" in actions:
        return make(
            enable_dump=True,
            dump_path=DUMP_DIRECTORY,
            dump_step=DUMP_STEP,
            dump_mode="all",
        )
    return make()


def sess_dump(sess: Any, directory: Optional[str] = None) -> Any:
    """Wrap a session so that tfdbg dumps every tensor of each run (CPU or GPU reference).

    Makes the directories of the tool and sets the environment of :func:`graph_dump_environment`.

    Args:
        sess: a tf.Session.
        directory: where the dump goes; None: ``precision_data/tf/tf_debug``.

    Returns:
        A tfdbg DumpingDebugWrapperSession; export its dump with
        :func:`npu_config.precision_tool.export.export_tfdbg`.

    Raises:
        NpuConfigError: the directory holds something already.
    """
    from npu_config.tf1.tensorflow import internal

    root = _prepared(directory)
    return internal("debug.wrappers.dumping_wrapper").DumpingDebugWrapperSession(sess, root)


def estimator_dump(directory: Optional[str] = None) -> Any:
    """The hook that does for an Estimator what :func:`sess_dump` does for a session.

    Args:
        directory: where the dump goes; None: ``precision_data/tf/tf_debug``.

    Raises:
        NpuConfigError: the directory holds something already.
    """
    from npu_config.tf1.tensorflow import internal

    root = _prepared(directory)
    return internal("debug.wrappers.hooks").DumpingDebugHook(root)


def seed_everything(seed: int = DUMP_SEED) -> None:
    """Seed Python, numpy and TensorFlow, and make TensorFlow deterministic where it can be.

    Sets ``PYTHONHASHSEED`` (for processes started later), and patches TensorFlow with
    ``tfdeterminism`` where that is installed.

    Args:
        seed: the seed for all of them.
    """
    from npu_config.tf1.tensorflow import TensorFlowMissingError, tf

    os.environ["PYTHONHASHSEED"] = str(seed)
    random.seed(seed)
    if importlib.util.find_spec("numpy") is not None:
        importlib.import_module("numpy").random.seed(seed)
    try:
        tf.set_random_seed(seed)
    except TensorFlowMissingError:
        _LOG.info("no TensorFlow here: Python and numpy are seeded")
        return
    if importlib.util.find_spec("tfdeterminism") is not None:
        importlib.import_module("tfdeterminism").patch()


def graph_dump_environment() -> Dict[str, str]:
    """The variables that make GE write its graphs beside the tool's other data."""
    return {
        "DUMP_GE_GRAPH": "2",
        "DUMP_GRAPH_LEVEL": "3",
        "DUMP_GRAPH_PATH": GRAPH_DIRECTORY,
        "NPU_DUMP_GRAPH": "true",
    }


def prepare() -> Dict[str, str]:
    """Make the directories of the tool, and set the environment of the graph dump.

    A variable that is set already keeps its value.

    Returns:
        The variables that were set.
    """
    for path in (
        DUMP_DIRECTORY,
        GRAPH_DIRECTORY,
        PROFILING_DIRECTORY,
        OVERFLOW_DIRECTORY,
    ):
        os.makedirs(path, exist_ok=True)
    missing = {
        name: value for name, value in graph_dump_environment().items() if name not in os.environ
    }
    os.environ.update(missing)
    if missing:
        _LOG.info("environment set: %s", ", ".join(map("=".join, missing.items())))
    return missing


def _prepared(directory: Optional[str]) -> str:
    root = directory or TFDBG_DIRECTORY
    if os.path.exists(root) and (not os.path.isdir(root) or os.listdir(root)):
        raise tfdbg_directory_in_use.error(
            '"{}" is not empty, and tfdbg needs an empty directory'.format(root),
            help="move the old recording away, or name another directory",
        )
    prepare()
    return root


def _update(custom_op: Any, actions: FrozenSet[str]) -> None:
    parameters = custom_op.parameter_map
    excluded = {"overflow": "enable_dump", "dump": "enable_dump_debug"}
    for action, other in excluded.items():
        if action in actions and other in parameters and parameters[other].b:
            raise NpuConfigError([exclusive("{} is on already".format(other))])
    replaced = []
    for name, (field, value) in values(actions).items():
        raw = value.encode() if isinstance(value, str) else value
        if name in parameters:
            before = parameters[name].WhichOneof("value")
            old = getattr(parameters[name], before) if before else raw
            if old != raw:
                replaced.append((name, old, raw))
        setattr(parameters[name], field, raw)
    warn_overwritten(replaced)
    _make_directories(actions)


def _switch(message: Any, field: str, word: str) -> None:
    """Set an enum field; a value that is neither that nor the default is reported."""
    kind = message.DESCRIPTOR.fields_by_name[field].enum_type
    old, new = getattr(message, field), kind.values_by_name[word].number
    if old not in (0, new):
        warn_overwritten([(field, kind.values_by_number[old].name, word)])
    setattr(message, field, new)


def _make_directories(actions: FrozenSet[str]) -> None:
    """Make what the actions need; the two fusion switch files are written where missing."""
    from npu_config.sidefiles import fusion_switch

    for path in directories(actions):
        os.makedirs(path, exist_ok=True)
    if "fusion_off" in actions:
        _write_missing(FUSION_OFF_FILE, fusion_switch.FusionSwitch.off())
    elif "fusion_switch" in actions:
        _write_missing(FUSION_SWITCH_FILE, fusion_switch.FusionSwitch())


def _write_missing(path: str, switches: Any) -> None:
    from npu_config.sidefiles import fusion_switch

    if not os.path.lexists(path):
        write_atomic(path, fusion_switch.render(switches))


__all__: List[str] = [
    "estimator_dump",
    "estimator_dump_config",
    "graph_dump_environment",
    "prepare",
    "seed_everything",
    "sess_dump",
    "session_dump_config",
    "update_custom_op",
]
