"""Checks of configurations that go to an Estimator of TensorFlow, and not to NPUEstimator."""

from typing import Iterable

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.objects import Constructed, Message, Use
from npu_config.script.reading import options_of_run_config
from npu_config.script.vocabulary import RUN_CONFIGS
from npu_config.text.words import joined, shown

_ESTIMATOR = "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py"


def _are_plain(uses: Iterable[Use]) -> bool:
    """True when all that is done with a RunConfig is to make Estimators of TensorFlow of it."""
    kinds = {use.kind for use in uses} - {"return", "npu_run_config_init"}
    return bool(kinds) and all(kind.endswith("estimator.Estimator") for kind in kinds)


def of_plain_estimator(context: Context, message: Message) -> bool:
    """True when Estimators of TensorFlow, and nothing else, open the sessions of a ConfigProto."""
    owners = [*context.run.builders, *context.run.loaded]
    is_built = any(message.uses is owner.uses for owner in owners)
    if message.foreign and not is_built:
        return False
    kinds = {use.kind for use in context.uses(message.place)} - {"return", "npu_run_config_init"}
    made = [
        each
        for each in context.run.constructed
        if each.kind in RUN_CONFIGS
        and "session_config" in each.arguments
        and each.arguments["session_config"].value is message
    ]
    return (
        bool(made)
        and kinds <= RUN_CONFIGS
        and all(_are_plain(context.uses(each.place)) for each in made)
    )


def _given(made: Constructed) -> str:
    """The options that the arguments of a NPURunConfig carry, in words; empty for none."""
    names = list(options_of_run_config(made)) if not made.open else []
    return joined([shown(name) for name in names]) if names else ""


@check(
    "NPU870",
    Severity.WARNING,
    facts=("run-config-type", "iteration-estimator-hook"),
    source=(_ESTIMATOR,),
)
def run_config_of_plain_estimator(context: Context) -> None:
    """An NPURunConfig with options goes to ``tf.estimator.Estimator``, which reads none of them.

    NPUEstimator is what writes the options of NPURunConfig into the session.  For an Estimator of
    TensorFlow only its ``session_config`` counts: precision, dump, profiling and the loop stay at
    their defaults, and nothing says so.  (npu_config's own NPURunConfig, which `npu-config run`
    serves, writes them into ``session_config``.)

    Wrong:

        config = NPURunConfig(precision_mode="allow_mix_precision")
        estimator = tf.estimator.Estimator(model_fn=model_fn, config=config)

    Right:

        config = NPURunConfig(precision_mode="allow_mix_precision")
        estimator = NPUEstimator(model_fn=model_fn, config=config)
    """
    if any(name.startswith("npu_config") for name in context.script.imported("NPURunConfig")):
        return
    for made in context.run.constructed:
        if made.kind != "NPURunConfig" or not _are_plain(context.uses(made.place)):
            continue
        names = _given(made)
        if names:
            context.report(
                phrase(
                    "{} of NPURunConfig: no effect, since tf.estimator.Estimator does not read "
                    "the options of NPURunConfig",
                    names,
                ),
                made.place,
                made.path,
                help="use NPUEstimator, or set the options in session_config",
            )
