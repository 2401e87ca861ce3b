"""764-779: what is in the files, texts and variables that options point to.

Each format judges its own content (``npu_config.sidefiles``) and enters rules of its own;
:func:`contents` brings their findings in.  The rules here need a file and an option.
"""

import functools
import os
import stat
from dataclasses import replace
from typing import Any, Dict, FrozenSet, Iterator, Optional, Tuple

from npu_config.catalogue.kinds import Choice, shorten
from npu_config.core.diagnostics import Diagnostic, Severity, rule
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import join, phrase
from npu_config.core.target import Target
from npu_config.rules.case import (
    DYNAMIC_SHAPES,
    Case,
    in_script,
    inspection,
    on,
    runs_dynamic,
    tuning_mode,
)
from npu_config.rules.environment import PROGRESS
from npu_config.rules.paths import WANTED
from npu_config.text.rules import json_syntax
from npu_config.text.source import unsaved_content

_DEBUGGING = "docs/en/tfadapter_1/apiref/session_config/debugging.md"
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"
_SWITCHES = "cann/ge:graph_metadef/graph/option/optimization_option.cc:192-206"

LARGEST_FILE = 10_000_000
"""Files above this are not read; no side file comes near it."""


@inspection
def contents(case: Case) -> Iterator[Diagnostic]:
    """What is wrong in the profiling options and, on the host, in the files that are at hand."""
    text = case.get("profiling_options")
    if text and on(case, "profiling_mode"):
        dynamic = runs_dynamic(case) is not None
        for found in _profiling(text, _target(case), dynamic):
            said = _in_literal(found) if in_script(case) else found
            yield said.in_option("profiling_options", case.place("profiling_options"))
    if case.on_host:
        for name in _formats():
            parsed = side_file(case, name)
            if parsed is not None:
                for found in parsed.diagnostics:
                    yield replace(found, option=name)
        yield from _of_tuning(case)
        yield from _of_cache(case)


def _target(case: Case) -> Target:
    """The target of the case, with the mode that ``graph_run_mode`` says."""
    mode: Any = "training" if case.training() else "online_inference" if case.inference() else None
    return replace(case.target, mode=mode)


_EXPRESSION = lazy_pattern(r"([A-Za-z_]\w*)([.(].*)?\Z")


def _in_literal(found: Diagnostic) -> Diagnostic:
    """A fault of JSON in a literal of a script, where a bare word may be an expression."""
    bare = None if found.rule != json_syntax.id else _EXPRESSION.match(found.meant or "")
    if bare is None:
        return found
    name, rest = bare.groups()
    if rest is None:
        if name in _profiling_words():
            return found
        help = (
            "write the value in double quotes; if {} is a variable, insert its value into the text"
        )
        return replace(found, help=phrase(help, name))
    return replace(
        found,
        message=phrase(
            "the expression {}{} is inside the string literal, so the text contains the "
            "expression and not its value",
            name,
            rest,
        ),
        help="insert the value of the expression into the text, in double quotes",
    )


@functools.lru_cache(maxsize=1)
def _profiling_words() -> FrozenSet[str]:
    """What is a word of its own in profiling options."""
    from npu_config.sidefiles.profiling import KEYS

    kinds = (key.kind for key in KEYS.values())
    return frozenset(word for kind in kinds if isinstance(kind, Choice) for word in kind.values)


@functools.lru_cache(maxsize=64)
def _profiling(text: str, target: Target, dynamic: bool) -> Tuple[Diagnostic, ...]:
    from npu_config.sidefiles import profiling

    parsed = profiling.parse(text, None, target)
    if parsed.model is None or not dynamic:
        return tuple(parsed.diagnostics)
    more = profiling.check(parsed.model, target, parsed.places, dynamic)
    return tuple(dict.fromkeys((*parsed.diagnostics, *more)))


@functools.lru_cache(maxsize=1)
def _formats() -> Dict[str, Any]:
    """The format of the file that an option points to, for each option that has one."""
    from npu_config.sidefiles import FORMATS

    return {
        name: entry
        for entry in FORMATS.values()
        for name in entry.options
        if name in WANTED and not WANTED[name].directory
    }


def side_file(case: Case, name: str) -> Any:
    """The parsed file that an option points to (``sidefiles.Parsed``), None when not at hand."""
    path = case.path(name)
    return None if path is None or not case.on_host else _parsed(name, path, _target(case))


def _parsed(name: str, path: str, target: Target) -> Any:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= LARGEST_FILE:
        return None
    if not os.access(path, os.R_OK):
        return None
    if unsaved_content(path) is not None:
        return _load(name, path, target)
    return _kept(name, os.path.abspath(path), path, target, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=32)
def _kept(name: str, full: str, path: str, target: Target, changed: int, size: int) -> Any:
    """The file as it was at that time; ``full`` keeps apart what relative paths do not."""
    return _load(name, path, target)


def _load(name: str, path: str, target: Target) -> Any:
    if name == "op_compiler_cache_dir":
        from npu_config.sidefiles import op_cache

        return op_cache.FORMAT.load(path, target)
    return _formats()[name].load(path, target)


def _of_tuning(case: Case) -> Iterator[Diagnostic]:
    """Features of the tuning that need another mode."""
    mode = tuning_mode(case)
    parsed = side_file(case, "aoe_config_file") if mode is not None else None
    if parsed is not None and parsed.model is not None:
        from npu_config.sidefiles import aoe

        for found in aoe.check(parsed.model, case.target, parsed.places, mode):
            yield replace(found, option="aoe_config_file")


def _of_cache(case: Case) -> Iterator[Diagnostic]:
    """The settings of the operator cache inside its directory."""
    directory = case.get("op_compiler_cache_dir")
    if directory is not None:
        path = os.path.join(directory, "op_cache.ini")
        parsed = _parsed("op_compiler_cache_dir", path, case.target)
        if parsed is not None:
            for found in parsed.diagnostics:
                yield replace(found, option="op_compiler_cache_dir")


def _debug_switches(case: Case) -> Tuple[str, ...]:
    parsed = side_file(case, "op_debug_config")
    return () if parsed is None or parsed.model is None else tuple(parsed.model.switches)


@rule(
    "NPU764",
    Severity.ERROR,
    options=("experimental_accelerate_train_mode",),
    facts=("accelerate-step-env", "accelerate-loss-env"),
    source=(
        "docs/en/tfa_env/TOTAL_STEP.md",
        "docs/en/tfa_env/STEP_NOW.md",
        "docs/en/tfa_env/TARGET_LOSS.md",
        "docs/en/tfa_env/LOSS_NOW.md",
    ),
    on_host=True,
    help="export numbers, e.g. TOTAL_STEP=100000 STEP_NOW=0, or TARGET_LOSS=0.1 LOSS_NOW=9.5",
)
def accelerate_environment(case: Case) -> None:
    """An environment variable with the progress of the accelerated training is not a number.

    With the trigger `step` the adapter reads TOTAL_STEP and STEP_NOW, unsigned 32-bit integers;
    with `loss` it reads TARGET_LOSS and LOSS_NOW, floats.  If a value is not such a number, the
    first run fails with InvalidArgument.  The script must update STEP_NOW or LOSS_NOW after every
    run.

    Wrong:

        # environment: TOTAL_STEP=1e5 STEP_NOW=0
        experimental_accelerate_train_mode: "fast|step|0.9"

    Right:

        # environment: TOTAL_STEP=100000 STEP_NOW=0
        experimental_accelerate_train_mode: "fast|step|0.9"
    """
    mode = case.get("experimental_accelerate_train_mode")
    if mode is None:
        return
    from npu_config.launch.environment.variables import VARIABLES

    for name in PROGRESS[mode.trigger]:
        text, kind = case.variable(name), VARIABLES[name].kind
        wrong = None if text is None else kind.problem_of(text)
        if wrong is not None:
            message = phrase("{} {}; legal: {}", name, wrong.problem, kind.describe())
            case.report("experimental_accelerate_train_mode", message)


@rule(
    "NPU776",
    Severity.ERROR,
    options=("op_debug_config",),
    also=("op_debug_level",),
    facts=("op-debug-oom-level2",),
    source=(_DEPRECATED,),
    on_host=True,
)
def memory_check_with_debug_level(case: Case) -> None:
    """The file of ``op_debug_config`` enables ``oom`` while ``op_debug_level`` is 2.

    An AI Core error occurs at run time.

    Wrong:

        # host: op_debug.cfg=op_debug_config=oom
        op_debug_config: op_debug.cfg
        op_debug_level: 2

    Right:

        # host: op_debug.cfg=op_debug_config=oom
        op_debug_config: op_debug.cfg
        op_debug_level: 1
    """
    if case.get("op_debug_level") == 2 and "oom" in _debug_switches(case):
        case.report(
            "op_debug_level",
            '"op_debug_level" is 2 and the file of "op_debug_config" enables oom; legal with'
            " oom: 0, 1, 3, 4",
            help='remove "op_debug_level", which is deprecated',
            consequence="an AI Core error follows at run time",
        )


@rule(
    "NPU777",
    Severity.ERROR,
    options=("op_debug_config",),
    facts=("op-debug-oom-collect-path",),
    source=(_DEBUGGING,),
    on_host=True,
)
def memory_check_with_collect_path(case: Case) -> None:
    """The file of ``op_debug_config`` enables ``oom`` while NPU_COLLECT_PATH is set.

    The compiled model or kernel fails when it is used.

    Wrong:

        # environment: NPU_COLLECT_PATH=/tmp/collect
        # host: op_debug.cfg=op_debug_config=oom
        op_debug_config: op_debug.cfg

    Right:

        # environment: NPU_COLLECT_PATH=/tmp/collect
        # host: op_debug.cfg=op_debug_config=dump_cce
        op_debug_config: op_debug.cfg
    """
    if case.variable("NPU_COLLECT_PATH") and "oom" in _debug_switches(case):
        case.report(
            "op_debug_config",
            'the file of "op_debug_config" enables oom and NPU_COLLECT_PATH is set in the '
            "environment; only one of them is allowed",
            help="unset NPU_COLLECT_PATH, or remove oom from the file",
            consequence="the compiled kernels fail",
        )


@rule(
    "NPU778",
    Severity.WARNING,
    options=("op_debug_config",),
    also=DYNAMIC_SHAPES,
    facts=("op-debug-ccec-dynamic",),
    source=(_DEBUGGING,),
    on_host=True,
)
def unoptimised_kernels_of_dynamic_shapes(case: Case) -> None:
    """The file of ``op_debug_config`` enables ``ccec_O0`` or ``ccec_g`` for dynamic shapes.

    Kernels that are not optimised are larger, and their compilation may fail ("InputSection too
    large").

    Wrong:

        # host: op_debug.cfg=op_debug_config=ccec_g
        op_debug_config: op_debug.cfg
        compile_dynamic_mode: true

    Right:

        # host: op_debug.cfg=op_debug_config=dump_cce
        op_debug_config: op_debug.cfg
        compile_dynamic_mode: true
    """
    dynamic = runs_dynamic(case)
    if dynamic is None:
        return
    found = [switch for switch in _debug_switches(case) if switch in ("ccec_O0", "ccec_g")]
    if found:
        case.report(
            "op_debug_config",
            'the file of "op_debug_config" enables {} with dynamic shapes ("{}"); the '
            "compilation of large kernels may fail",
            join(" and ", found),
            dynamic,
            help="use another debug switch or static shapes to locate the error",
        )


@rule(
    "NPU779",
    Severity.INFO,
    options=("optimization_switch",),
    also=("fusion_switch_file",),
    facts=("optimization-switch-vs-file",),
    source=(_SWITCHES,),
    on_host=True,
)
def switch_beats_fusion_file(case: Case) -> None:
    """``optimization_switch`` and ``fusion_switch_file`` set one pass to different values.

    The value in ``optimization_switch`` is used.

    Wrong:

        # host: fusion.cfg={"Switch":{"GraphFusion":{"PoolingFusionPass":"off"}}}
        fusion_switch_file: fusion.cfg
        optimization_switch: "PoolingFusionPass:on"

    Right:

        # host: fusion.cfg={"Switch":{"GraphFusion":{"PoolingFusionPass":"off"}}}
        fusion_switch_file: fusion.cfg
    """
    switches = case.get("optimization_switch")
    parsed = side_file(case, "fusion_switch_file") if switches else None
    if parsed is None or parsed.model is None:
        return
    for name, switch in switches:
        in_file = _named(parsed.model, name)
        if in_file is not None and in_file is not switch:
            words = {True: "on", False: "off"}
            case.report(
                "optimization_switch",
                '"optimization_switch" sets {} to {}, but the file of "fusion_switch_file" '
                'sets it to {}; "optimization_switch" is used',
                shorten(name),
                words[switch],
                words[in_file],
                help="set each pass in one place only",
            )


def _named(model: Any, name: str) -> Optional[bool]:
    """What the file says of a pass that it names."""
    for table in (model.graph, model.ub, model.passes):
        if name in table:
            return bool(table[name])
    return None
