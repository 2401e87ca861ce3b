"""3xx: data dump, overflow detection, profiling."""

from __future__ import annotations

import functools
from typing import Any, Mapping, Optional

from npu_config.catalogue import OPTIONS, Outcome
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.rules.case import (
    DYNAMIC_SHAPES,
    Case,
    changed,
    in_script,
    is_never_read,
    line_of,
    may_run_dynamic,
    needing,
    on,
    report_inert,
)

_DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md"

SWITCHES = OPTIONS["dump_path"].read_when

_OF_DUMP = needing("enable_dump")
_OF_DETECTION = needing("enable_dump_debug")
_OF_BOTH = needing(*SWITCHES)
_OF_PROFILING = needing("profiling_mode")


@rule(
    "NPU301",
    Severity.ERROR,
    options=("enable_dump_debug",),
    also=("enable_dump",),
    facts=("dump-exclusive",),
    source=(_DOC, "cann/ge:base/common/dump/dump_properties.cc:244-254"),
)
def both_dumps(case: Case) -> None:
    """Data dump and overflow detection are both enabled.

    The adapter passes both options to the graph engine, which rejects them when the session starts
    (E10001).

    Wrong:

        enable_dump: true
        enable_dump_debug: true
        dump_path: /home/test/output

    Right:

        enable_dump_debug: true
        dump_path: /home/test/output
    """
    if on(case, "enable_dump") and on(case, "enable_dump_debug"):
        case.report(
            "enable_dump_debug",
            '"enable_dump"{} and "enable_dump_debug" are both True; only one of them is allowed',
            line_of(case, "enable_dump", "enable_dump_debug"),
            help='enable only one of them in each run; if flags enable them, use "if" and "elif"'
            if in_script(case)
            else "enable only one of them in each run",
            consequence="the graph engine rejects the session",
        )


@rule(
    "NPU302",
    Severity.ERROR,
    options=SWITCHES,
    also=("dump_path",),
    facts=("dump-path-required",),
    source=("tf_adapter/util/npu_attrs.cc:2068-2082", _DOC),
)
def dump_without_path(case: Case) -> None:
    """A dump is switched on and ``dump_path`` is not set.

    session.run raises an exception.

    Wrong:

        enable_dump: true

    Right:

        enable_dump: true
        dump_path: /home/test/output
    """
    if not case.absent("dump_path"):
        return
    for switch in SWITCHES:
        if case.get(switch) is True:
            case.report(
                switch,
                '"{}" is True but "dump_path" is not set',
                switch,
                help='set "dump_path" to an existing directory that can be read and written',
                consequence=Outcome.REJECT.value,
            )
            return


@rule(
    "NPU303",
    Severity.WARNING,
    options=_OF_DUMP,
    also=("enable_dump",),
    facts=("dump-step-only-with-dump",),
    source=(
        "tf_adapter/util/npu_attrs.cc:2083-2100",
        "cann/ge:base/common/dump/dump_properties.cc:200-225",
    ),
)
def dump_option_without_dump(case: Case) -> None:
    """An option of the data dump is set, but ``enable_dump`` is not.

    Without ``enable_dump`` the adapter does not read ``dump_step`` and ``dump_mode``, even if
    ``enable_dump_debug`` is True.  Only the data dump uses ``dump_data`` and ``dump_layer``.

    Wrong:

        dump_step: "0|5"

    Right:

        dump_step: "0|5"
        enable_dump: true
        dump_path: /home/test/output
    """
    report_inert(case, _OF_DUMP, "enable_dump")


@rule(
    "NPU304",
    Severity.WARNING,
    options=_OF_DETECTION,
    also=("enable_dump_debug",),
    facts=("dump-debug-mode-only-with-debug",),
    source=("tf_adapter/util/npu_attrs.cc:2101-2110",),
)
def overflow_mode_without_detection(case: Case) -> None:
    """``dump_debug_mode`` is set while ``enable_dump_debug`` is not.

    The option is ignored.

    Wrong:

        dump_debug_mode: aicore_overflow

    Right:

        dump_debug_mode: aicore_overflow
        enable_dump_debug: true
        dump_path: /home/test/output
    """
    report_inert(case, _OF_DETECTION, "enable_dump_debug")


@rule(
    "NPU305",
    Severity.INFO,
    options=_OF_BOTH,
    also=(
        "enable_dump",
        "enable_dump_debug",
        "aoe_mode",
    ),
    facts=("dump-switch-required",),
    source=("tf_adapter/util/npu_attrs.cc:2068-2110",),
)
def dump_path_without_dump(case: Case) -> None:
    """``dump_path`` is set while no dump is switched on.

    The path is neither read nor checked.

    Wrong:

        dump_path: /home/test/output

    Right:

        dump_path: /home/test/output
        enable_dump_debug: true
    """
    for name in case.touched if is_never_read(case, SWITCHES) else ():
        if changed(case, name):
            case.report(
                name,
                '"{}" is not read, because neither "{}" nor "{}" is True',
                name,
                *SWITCHES,
                help="enable a dump, or remove the option",
            )


@rule(
    "NPU306",
    Severity.WARNING,
    options=("enable_exception_dump",),
    also=DYNAMIC_SHAPES,
    beside=("enable_dump", "enable_dump_debug"),
    facts=("dump-vs-exception-dump",),
    source=(_DOC,),
)
def dump_with_exception_dump(case: Case) -> None:
    """A dump and the common exception dump are both enabled.

    In a network with dynamic shapes only the exception dump works in this case; with static shapes
    both dumps work.  In a script whose options do not mention dynamic shapes, this is reported as
    information.

    Wrong:

        enable_dump: true
        dump_path: /home/test/output
        enable_exception_dump: 1

    Right:

        enable_dump: true
        dump_path: /home/test/output
        enable_exception_dump: 2
    """
    if case.get("enable_exception_dump") == 1 and any(on(case, switch) for switch in SWITCHES):
        case.report(
            "enable_exception_dump",
            '"enable_exception_dump" is 1 while a dump is on; with dynamic shapes only the '
            "exception dump works",
            help='set "enable_exception_dump" to 2 (the default) or 0 while dumping',
            severity=Severity.INFO if in_script(case) and not may_run_dynamic(case) else None,
        )


@rule(
    "NPU307",
    Severity.INFO,
    options=("enable_dump",),
    also=("dump_step",),
    facts=("dump-limit-iterations",),
    source=("docs/en/tfadapter_1/migration/others/dump_data_collect.md",),
)
def dump_of_every_step(case: Case) -> None:
    """Data dump is on in training and ``dump_step`` does not limit it.

    Every iteration is dumped, and one iteration can take tens of GB.

    Wrong:

        enable_dump: true
        dump_path: /home/test/output

    Right:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "0|5"
    """
    if case.get("enable_dump") is True and case.absent("dump_step") and case.training():
        case.report(
            "enable_dump",
            '"enable_dump" is True without "dump_step": every iteration is dumped, and one '
            "iteration can take tens of GB",
            help='set "dump_step", e.g. to "0|5"',
        )


@rule(
    "NPU308",
    Severity.INFO,
    options=("dump_mode",),
    also=("enable_dump",),
    facts=("dump-mode-all-collective",),
    source=(_DOC,),
)
def dump_of_both_sides(case: Case) -> None:
    """``dump_mode: all`` writes two files for each collective operator.

    The inputs of a collective are dumped before it runs and its outputs after it, into separate
    files.

    Wrong, where one file for each operator is expected:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "0"
        dump_mode: all

    Right:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "0"
        dump_mode: output
    """
    if case.get("dump_mode") == "all" and on(case, "enable_dump"):
        case.report(
            "dump_mode",
            '"dump_mode" is "all": two files are written for each collective operator',
        )


@rule(
    "NPU311",
    Severity.WARNING,
    options=_OF_PROFILING,
    also=("profiling_mode",),
    facts=("profiling-options-inert",),
    source=("tf_adapter/util/npu_attrs.cc:2127-2133",),
)
def profiling_options_without_profiling(case: Case) -> None:
    """``profiling_options`` is set while ``profiling_mode`` is not.

    The options are not read.

    Wrong:

        profiling_options: '{"output": "/tmp/profiling", "task_time": "on"}'

    Right:

        profiling_options: '{"output": "/tmp/profiling", "task_time": "on"}'
        profiling_mode: true
    """
    report_inert(case, _OF_PROFILING, "profiling_mode")


@rule(
    "NPU312",
    Severity.INFO,
    options=("profiling_mode",),
    also=("profiling_options",),
    facts=("profiling-options-default",),
    source=("tf_adapter/util/npu_attrs.cc:2128-2132",),
)
def profiling_without_options(case: Case) -> None:
    """Profiling is on, but ``profiling_options`` is missing or empty.

    The adapter then uses its default: training_trace, task_time, hccl and aicpu on,
    PipeUtilization, output ``./``.  An empty string is a warning, because it looks like "collect
    nothing".

    Wrong:

        profiling_mode: true

    Right:

        profiling_mode: true
        profiling_options: '{"output": "/tmp/profiling", "task_time": "on"}'
    """
    if case.get("profiling_mode") is not True:
        return
    empty = case.get("profiling_options") == ""
    if empty or case.absent("profiling_options"):
        case.report(
            "profiling_options" if empty else "profiling_mode",
            '"profiling_options" is {}; the adapter uses its default: training_trace, '
            'task_time, hccl and aicpu on, PipeUtilization, output "./"',
            phrase("empty") if empty else phrase("not set"),
            help='set "profiling_options" to a JSON object that lists the data to collect',
            severity=Severity.WARNING if empty else None,
        )


@functools.lru_cache(maxsize=32)
def profiling_keys(text: str) -> Optional[Mapping[str, Any]]:
    """The JSON object that a ``profiling_options`` text holds, None when it holds none."""
    import json

    try:
        options = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return options if isinstance(options, dict) else None
