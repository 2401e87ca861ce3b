"""800-809: what a session configuration says beside the options."""

from typing import Optional

from npu_config.core.diagnostics import Fix, Severity, rule
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import UNKNOWN, SessionFacts, SourceKind
from npu_config.rules.case import Case
from npu_config.text.words import near

_INTRODUCTION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"
_PORTING = "docs/en/tfadapter_1/migration/script_migration/single_service_single_device_porting.md"

_REWRITER_CONFIG = "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig"


@rule(
    "NPU801",
    Severity.ERROR,
    facts=("custom-op-name",),
    source=("tf_adapter/util/npu_attrs.cc:917", _INTRODUCTION),
    about="session",
)
def no_npu_optimizer(case: Case) -> None:
    """No entry of ``custom_optimizers`` is called ``NpuOptimizer``.

    The adapter looks for exactly this name.  Without it nothing is offloaded: TensorFlow runs the
    whole graph on the CPU, without any message.

    Wrong, in a script:

        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NPUOptimizer"

    Right, in a script:

        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
    """
    session = case.session
    if session is None or case.source_kind is SourceKind.RUN_CONFIG:
        return
    if NPU_OPTIMIZER in session.optimizers or UNKNOWN in session.optimizers or case.settings.open:
        return
    for index, name in enumerate(session.optimizers):
        if isinstance(name, str) and near(name, [NPU_OPTIMIZER]):
            places = session.optimizer_places
            place = places[index] if index < len(places) else session.place
            is_text = case.source_kind is SourceKind.PROTO
            quoted = '"{}"'.format(NPU_OPTIMIZER)
            case.report(
                None,
                'the optimizer is named "{}"; the adapter looks for "{}" and leaves the graph '
                "on the CPU",
                name[:80],
                NPU_OPTIMIZER,
                help=phrase("set the name of this optimizer to {}", quoted),
                place=place,
                fix=Fix.writing(place, quoted) if is_text else None,
            )
            return
    case.report(
        None,
        'no custom optimizer is named "{}"; the graph runs on the CPU',
        NPU_OPTIMIZER,
        help=phrase('add an entry: custom_optimizers.add().name = "{}"', NPU_OPTIMIZER),
        place=session.place,
    )


def _stands(session: SessionFacts, field: str, value: str, unset: str) -> str:
    """What a field is, in words; one that holds its default and is written nowhere is not set."""
    if value == unset and field not in session.places:
        return phrase('"{}" is not set ({})', field, unset)
    return phrase('"{}" is {}', field, value)


def _as_text(case: Case, field: str, value: str) -> Optional[str]:
    """How a field is written in the text form of a ConfigProto; None for any other source."""
    session = case.session
    if case.source_kind is not SourceKind.PROTO or session is None or session.place.line is None:
        return None
    *outer, name = field.split(".")
    inner = "{}: {}".format(name, value)
    for each in reversed(outer):
        inner = "{} {{ {} }}".format(each, inner)
    return phrase("write {}", inner)


@rule(
    "NPU802",
    Severity.WARNING,
    facts=("custom-op-duplicate",),
    source=("tf_adapter/util/npu_attrs.cc:916", "tf_adapter/util/npu_attrs.cc:2032-2663"),
    about="session",
)
def second_npu_optimizer(case: Case) -> None:
    """Several entries of ``custom_optimizers`` are called ``NpuOptimizer``.

    The adapter reads all entries in order: the keys of later entries override those of earlier
    ones, a few options return to their default if the last entry does not contain them, and
    constraints between options are checked only within one entry.

    Wrong, in a script:

        custom_optimizers.add().name = "NpuOptimizer"
        custom_optimizers.add().name = "NpuOptimizer"

    Right, in a script:

        custom_optimizers.add().name = "NpuOptimizer"
    """
    session = case.session
    if session is None or session.optimizers.count(NPU_OPTIMIZER) < 2:
        return
    indexes = [i for i, name in enumerate(session.optimizers) if name == NPU_OPTIMIZER]
    places = session.optimizer_places
    case.report(
        None,
        '{} custom optimizers are named "{}"; only one is allowed, and the keys of later '
        "ones override those of earlier ones",
        len(indexes),
        NPU_OPTIMIZER,
        help="set all options on one NpuOptimizer entry",
        place=places[indexes[1]] if indexes[1] < len(places) else session.place,
    )


@rule(
    "NPU803",
    Severity.ERROR,
    facts=("remapping-off", "run-config-remapping"),
    source=(_INTRODUCTION, _PORTING),
    about="session",
)
def remapping_not_off(case: Case) -> None:
    """``rewrite_options.remapping`` is not OFF.

    TensorFlow's remapper conflicts with the graph passes of the NPU. Nothing checks the option.
    NPUEstimator does not switch it off either (this is a warning there, because the session patch
    of npu_init may switch it off).

    Wrong, in a script:

        custom_op.name = "NpuOptimizer"

    Right, in a script:

        custom_op.name = "NpuOptimizer"
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    """
    session = case.session
    if session is None or session.remapping is UNKNOWN or session.remapping == "OFF":
        return
    case.report(
        None,
        "{}; legal with NpuOptimizer: OFF",
        _stands(session, "remapping", session.remapping, "DEFAULT"),
        help=_as_text(case, "graph_options.rewrite_options.remapping", "OFF")
        or phrase(
            "write config.graph_options.rewrite_options.remapping = RewriterConfig.OFF ({})",
            _REWRITER_CONFIG,
        ),
        place=session.places.get("remapping", session.place),
        fix=Fix.writing(session.places.get("remapping"), "OFF", value="OFF"),
        severity=Severity.WARNING if case.source_kind is SourceKind.RUN_CONFIG else None,
    )


@rule(
    "NPU804",
    Severity.INFO,
    facts=("memory-optimization-off",),
    source=(
        _INTRODUCTION,
        "docs/en/tfadapter_1/migration/faq/disable_memory_optimization_core_dump.md",
    ),
    about="session",
)
def memory_optimization_not_off(case: Case) -> None:
    """``rewrite_options.memory_optimization`` is not NO_MEM_OPT.

    The documentation requires the memory optimization to be off, but writes RewriterConfig.OFF, a
    value of another enum: its number means MANUAL here, and the optimizer still runs.  (If
    TensorFlow fails in memory_optimizer.cc while the optimization is off, the FAQ says to leave
    the optimization on.) This is advice, except for a value that switches an optimization on: such
    a value is a warning.

    Wrong, in a script:

        config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF

    Right, in a script:

        config.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT
    """
    session = case.session
    if session is None or session.memory_optimization in (UNKNOWN, "NO_MEM_OPT"):
        return
    written = session.memory_optimization
    place = session.places.get("memory_optimization")
    is_advice = written in ("MANUAL", "DEFAULT_MEM_OPT")
    case.report(
        None,
        "{} (the same number as RewriterConfig.OFF); the value for off is NO_MEM_OPT"
        if written == "MANUAL"
        else "{}; the value for off is NO_MEM_OPT",
        _stands(session, "memory_optimization", written, "DEFAULT_MEM_OPT"),
        help=_as_text(case, "graph_options.rewrite_options.memory_optimization", "NO_MEM_OPT")
        or phrase(
            "write config.graph_options.rewrite_options.memory_optimization = "
            "RewriterConfig.NO_MEM_OPT ({})",
            _REWRITER_CONFIG,
        ),
        place=place or session.place,
        severity=None if is_advice else Severity.WARNING,
        fix=None if is_advice else Fix.writing(place, "NO_MEM_OPT", value="NO_MEM_OPT"),
    )


@rule(
    "NPU805",
    Severity.ERROR,
    facts=("xla-off",),
    source=("tf_adapter/python/npu_bridge/npu_init.py:99-140", _PORTING),
    about="session",
)
def xla_not_off(case: Case) -> None:
    """``optimizer_options.global_jit_level`` is not OFF.

    XLA and the graph passes of the NPU cannot both compile the graph.  ``ON_1`` and ``ON_2`` are
    errors; ``DEFAULT`` is information, because the flags of TensorFlow then decide whether XLA is
    used.

    ``npu_config_proto``, and every session of a script that imports ``npu_bridge.npu_init``, set
    the option to OFF, whatever its value is: nothing is reported in these cases.

    Wrong, in a script:

        config.graph_options.optimizer_options.global_jit_level = OptimizerOptions.ON_1

    Right, in a script:

        config.graph_options.optimizer_options.global_jit_level = OptimizerOptions.OFF
    """
    session = case.session
    if session is None or session.global_jit_level in (UNKNOWN, "OFF"):
        return
    level, place = session.global_jit_level, session.places.get("global_jit_level")
    case.report(
        None,
        "{}; legal with NpuOptimizer: OFF",
        _stands(session, "global_jit_level", level, "DEFAULT"),
        help=_as_text(case, "graph_options.optimizer_options.global_jit_level", "OFF")
        or "write config.graph_options.optimizer_options.global_jit_level = "
        "tf.OptimizerOptions.OFF",
        place=place or session.place,
        severity=Severity.INFO if level == "DEFAULT" else None,
        fix=None if level == "DEFAULT" else Fix.writing(place, "OFF", value="OFF"),
    )


@rule(
    "NPU806",
    Severity.INFO,
    facts=("allow-soft-placement",),
    source=("tf_adapter/python/npu_bridge/npu_init.py:99-121", _INTRODUCTION),
    about="session",
)
def soft_placement_off(case: Case) -> None:
    """``allow_soft_placement`` is not True.

    Without soft placement, operators that exist only on the host cannot be placed.  Every helper
    function of the vendor switches soft placement on.

    Wrong, in a script:

        config = tf.ConfigProto()

    Right, in a script:

        config = tf.ConfigProto(allow_soft_placement=True)
    """
    session = case.session
    if session is not None and session.allow_soft_placement is False:
        case.report(
            None,
            "{}; operators that only the host supports cannot be placed",
            _stands(session, "allow_soft_placement", "False", "False"),
            help=_as_text(case, "allow_soft_placement", "true")
            or "write config.allow_soft_placement = True",
            place=session.places.get("allow_soft_placement", session.place),
        )
