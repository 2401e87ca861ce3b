"""810-829: NPURunConfig and NPUEstimator, beyond the options that they carry.

These rules look at ``Settings.extra``: arguments that are not options.  The class itself
(``npu_config.tf1``) builds such settings from its own arguments.
"""

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.api import PARTS
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import UNKNOWN, SourceKind
from npu_config.rules.case import SHAPE_PROFILES, Case, quoted
from npu_config.rules.environment import cluster_of

_SUPPORT = "docs/en/tfadapter_1/apiref/npu_config/runconfig_params_support_info.md"
_RUN_CONFIG = "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py"
_ESTIMATOR = "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py"


UNSUPPORTED = ("train_distribute", "eval_distribute")
"""The arguments that NPURunConfig hands on to RunConfig, and that the NPU does not support."""


@rule(
    "NPU815",
    Severity.WARNING,
    facts=("run-config-unsupported-fields",),
    source=(_SUPPORT,),
    about="run_config",
)
def unsupported_run_config_field(case: Case) -> None:
    """A tf.estimator.RunConfig sets a field that the NPU does not support.

    The unsupported fields are ``train_distribute`` and ``eval_distribute``.  NPURunConfig has no
    arguments ``device_fn``, ``protocol`` and ``experimental_distribute``: see NPU839.

    Wrong, in a script:

        NPURunConfig(train_distribute=tf.distribute.MirroredStrategy())

    Right, in a script:

        NPURunConfig()
    """
    for name in UNSUPPORTED:
        if case.argument(name) is not None:
            case.report_argument(
                name, '"{}" is set, but the NPU does not support it', name, help="remove it"
            )


_NESTED = (
    "dump_config",
    "experimental_config",
    "dynamic_input_config",
    "experimental_config.graph_memory_optimize_config",
)
"""The configuration objects whose class the constructor looks at."""

_UNCHECKED = {
    **{name: PARTS[name] for name in ("profiling_config", "memory_config")},
    "session_config": "ConfigProto",
}
"""The objects whose class nobody looks at before NPUEstimator uses them."""


@rule(
    "NPU816",
    Severity.ERROR,
    facts=("run-config-nested-types",),
    source=(_RUN_CONFIG + ":332-364",),
    about="run_config",
)
def wrong_nested_config(case: Case) -> None:
    """A configuration object in an NPURunConfig is of the wrong class.

    NPURunConfig raises ValueError.  It does not check ``profiling_config``, ``memory_config`` and
    ``session_config``; with a wrong class there, NPUEstimator fails later.

    Wrong, in a script:

        NPURunConfig(dump_config={"enable_dump": True})

    Right, in a script:

        NPURunConfig(dump_config=DumpConfig(enable_dump=True, dump_path="/tmp"))
    """
    for name, expected in {**{name: PARTS[name] for name in _NESTED}, **_UNCHECKED}.items():
        value = case.argument(name)
        if value is not None and expected not in [c.__name__ for c in type(value).__mro__]:
            case.report_argument(
                name,
                '"{}" must be a {} or None, got {}; NPUEstimator fails later'
                if name in _UNCHECKED
                else '"{}" must be a {} or None, got {}; NPURunConfig raises ValueError',
                name,
                expected,
                type(value).__name__,
                help=phrase("write {}(...)", expected),
            )


@rule(
    "NPU817",
    Severity.ERROR,
    facts=("run-config-horovod-bool",),
    source=(_RUN_CONFIG + ":344-347",),
    about="run_config",
)
def wrong_horovod_mode(case: Case) -> None:
    """``horovod_mode`` is not a bool.

    NPURunConfig raises ValueError.  True suppresses the hook that broadcasts the variables.

    Wrong, in a script:

        NPURunConfig(horovod_mode=1)

    Right, in a script:

        NPURunConfig(horovod_mode=True)
    """
    setting = case.settings.extra.get("horovod_mode")
    if setting is not None and setting.value is not UNKNOWN and type(setting.value) is not bool:
        case.report_argument(
            "horovod_mode",
            '"horovod_mode" must be True or False, got {}; NPURunConfig raises ValueError',
            type(setting.value).__name__,
            help="write True or False",
        )


_INPUT_FIELDS = (*SHAPE_PROFILES, "compile_hybrid_mode")


@rule(
    "NPU818",
    Severity.WARNING,
    options=_INPUT_FIELDS,
    facts=("run-config-dynamic-input-complete",),
    source=(_ESTIMATOR + ":681-696",),
    about="run_config",
)
def incomplete_dynamic_input_config(case: Case) -> None:
    """A field of DynamicInputConfig is None.

    None of the four fields is then written to the session.

    Wrong, in a script:

        DynamicInputConfig("data:1,-1", "1;2", 1, None)

    Right, in a script:

        DynamicInputConfig("data:1,-1", "1;2", 1, 0)
    """
    if case.source_kind is not SourceKind.RUN_CONFIG:
        return
    missing = [name for name in _INPUT_FIELDS if case.absent(name)]
    if missing:
        present = [name for name in _INPUT_FIELDS if case.isset(name)]
        case.report(
            present[0],
            "{} of DynamicInputConfig is None; the fields are written only if all four are set"
            if len(missing) == 1
            else (
                "{} of DynamicInputConfig are None; the fields are written only if all four "
                "are set"
            ),
            quoted(missing),
            help="set all four fields",
        )


@rule(
    "NPU819",
    Severity.WARNING,
    options=("dump_debug_mode",),
    also=("dump_mode",),
    facts=("run-config-dump-debug-mode",),
    source=(_ESTIMATOR + ":552-584",),
    about="run_config",
)
def overflow_mode_without_dump_mode(case: Case) -> None:
    """``dump_debug_mode`` of DumpConfig has no effect, because ``dump_mode`` is None.

    NPUEstimator writes ``dump_debug_mode`` only if ``dump_mode`` is not None.

    Wrong, in a script:

        DumpConfig(enable_dump_debug=True, dump_path="/tmp", dump_mode=None, dump_debug_mode="all")

    Right, in a script:

        DumpConfig(enable_dump_debug=True, dump_path="/tmp", dump_debug_mode="all")
    """
    if case.source_kind is SourceKind.RUN_CONFIG and case.argument_is_none(
        "dump_config.dump_mode"
    ):
        case.report(
            "dump_debug_mode",
            '"dump_debug_mode" is not written, because "dump_mode" of DumpConfig is None',
            help='keep the default of "dump_mode", "output"',
        )


@rule(
    "NPU820",
    Severity.WARNING,
    facts=("run-config-second-custom-op",),
    source=(_ESTIMATOR + ":769-790", "tf_adapter/util/npu_attrs.cc:2032"),
    about="run_config",
)
def npu_optimizer_in_session_config(case: Case) -> None:
    """The ``session_config`` of NPURunConfig already contains an NpuOptimizer.

    NPUEstimator adds a second entry.  The options that NPUEstimator always writes (enable_dump,
    jit_compile, iterations_per_loop, mix_compile_mode, ...) override those of the first entry.  In
    a script, ``check`` reports each option that is overridden (NPU883); the entry of
    ``npu_config_proto()`` contains no options.

    Wrong, in a script:

        custom_op.parameter_map["enable_dump"].b = True
        NPURunConfig(session_config=config)

    Right, in a script:

        NPURunConfig(session_config=tf.ConfigProto(allow_soft_placement=True))
    """
    session = case.session
    if (
        session is not None
        and case.source_kind is SourceKind.RUN_CONFIG
        and NPU_OPTIMIZER in session.optimizers
    ):
        case.report(
            None,
            '"session_config" already contains an "{}"; NPUEstimator adds a second one, '
            "whose keys override the first",
            NPU_OPTIMIZER,
            help="pass the options as arguments of NPURunConfig",
            place=session.place,
        )


_NO_ARGUMENT = tuple(
    name for name, option in OPTIONS.items() if option.run_config is None and option.is_read
)


@rule(
    "NPU821",
    Severity.INFO,
    options=_NO_ARGUMENT,
    facts=("run-config-no-field",),
    source=(_RUN_CONFIG + ":31-112",),
    about="run_config",
)
def option_without_run_config_argument(case: Case) -> None:
    """An option is set that NPURunConfig has no argument for.

    The option can be set only on the NpuOptimizer of ``session_config``; an option that is set
    there is not reported.

    Wrong, in a script:

        NPURunConfig(graph_exec_timeout=600000)

    Right, in a script:

        NPURunConfig(session_config=config_with_graph_exec_timeout)
    """
    if case.source_kind is SourceKind.RUN_CONFIG:
        for name in _NO_ARGUMENT:
            if case.isset(name) and case.settings.entries[name].wire is None:
                case.report(
                    name,
                    'NPURunConfig has no argument for "{}"',
                    name,
                    help="set it on the NpuOptimizer of session_config",
                )


@rule(
    "NPU822",
    Severity.ERROR,
    facts=("estimator-model-dir",),
    source=(_ESTIMATOR + ":938-962",),
    about="run_config",
)
def two_model_directories(case: Case) -> None:
    """``model_dir`` differs between NPUEstimator and NPURunConfig.

    NPUEstimator raises an exception.

    Wrong, in a script:

        NPUEstimator(model_fn, model_dir="/a", config=NPURunConfig(model_dir="/b"))

    Right, in a script:

        NPUEstimator(model_fn, config=NPURunConfig(model_dir="/b"))
    """
    first, second = case.argument("model_dir"), case.argument("estimator.model_dir")
    if isinstance(first, str) and isinstance(second, str) and first != second:
        case.report_argument(
            "estimator.model_dir",
            '"model_dir" is "{}" in NPUEstimator and "{}" in NPURunConfig; NPUEstimator '
            "raises an exception",
            second[:80],
            first[:80],
            help='set "model_dir" only once',
        )


@rule(
    "NPU824",
    Severity.ERROR,
    facts=("ps-worker-mix-compile",),
    source=(_RUN_CONFIG + ":219-226",),
    on_host=True,
    about="run_config",
)
def parameter_servers_without_strategy(case: Case) -> None:
    """TF_CONFIG has a cluster but ``distribute`` has no ParameterServerStrategy, or the reverse.

    NPURunConfig raises an exception.

    Wrong, in a script started with a cluster in TF_CONFIG:

        NPURunConfig(mix_compile_mode=True)

    Right, in a script started with a cluster in TF_CONFIG:

        NPURunConfig(mix_compile_mode=True, distribute=strategy)
    """
    setting = case.settings.extra.get("distribute")
    if setting is None or setting.value is UNKNOWN or case.environ is None:
        return
    has_strategy = "ParameterServerStrategy" in [
        base.__name__.lstrip("_") for base in type(setting.value).__mro__
    ]
    has_cluster = cluster_of(case) is not None
    if has_cluster and not has_strategy:
        problem = '"distribute" is not a ParameterServerStrategy although TF_CONFIG has a cluster'
        help = (
            'set "distribute" to a ParameterServerStrategy, or remove the cluster from TF_CONFIG'
        )
    elif has_strategy and not has_cluster:
        problem = '"distribute" is a ParameterServerStrategy but TF_CONFIG has no cluster'
        help = "describe the cluster in TF_CONFIG, or remove the strategy"
    else:
        return
    case.report_argument("distribute", "{}; NPURunConfig raises an exception", problem, help=help)
