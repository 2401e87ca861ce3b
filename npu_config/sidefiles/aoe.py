"""The file of ``aoe_config_file``: which operators AOE tunes, and how.

Source: docs/en/tfadapter_1/apiref/session_config/AOE.md.
"""

from typing import Iterator, Mapping, Optional, Sequence, Tuple

from npu_config.catalogue.kinds import Choice
from npu_config.core.diagnostics import Diagnostic, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles.format import JsonFormat, RawDocument, Sample, content, raw_format
from npu_config.sidefiles.schema.kinds import Items, Key, LimitedText, Schema
from npu_config.sidefiles.schema.reading import one_rule
from npu_config.text.source import ANYWHERE, Places
from npu_config.text.words import shown

LEVELS = ("O1", "O2")
FEATURES: Mapping[str, str] = {"deeper_opat": "2", "nonhomo_split": "1"}
"""The features, and the ``aoe_mode`` that each needs."""

_DOC = "docs/en/tfadapter_1/apiref/session_config/AOE.md"


@declare(
    "NPU756",
    Severity.ERROR,
    options=("aoe_config_file",),
    facts=("aoe-config-file",),
    source=(_DOC,),
    help='write e.g. {"tune_ops_type": ["Conv2D"], "tune_optimization_level": "O2"}',
)
def aoe_config_structure() -> None:
    """The AOE configuration file has an unknown key or an invalid value.

    The file is a JSON object.  `tune_ops_name` and `tune_ops_type` are arrays of names (if both
    are set, the operators of both are tuned), `tune_optimization_level` is `O1` (high-performance
    tuning) or `O2` (normal tuning), and `feature` is an array that may contain `deeper_opat` and
    `nonhomo_split`.  All four keys are optional.

    Wrong: `{"tune_ops_type": "Conv2D", "tune_optimization_level": 2}`

    Right: `{"tune_ops_type": ["Conv2D"], "tune_optimization_level": "O2"}`
    """


@declare(
    "NPU757",
    Severity.ERROR,
    options=("aoe_config_file", "aoe_mode"),
    facts=("aoe-feature-mode",),
    source=(_DOC,),
    help="correct aoe_mode, or the list of features",
)
def aoe_feature_mode() -> None:
    """A feature of the AOE configuration file does not match `aoe_mode`.

    `deeper_opat` needs `aoe_mode` 2 (operator tuning), and `nonhomo_split` needs `aoe_mode` 1
    (subgraph tuning), so one file cannot contain both.

    Wrong with `aoe_mode="1"`: `{"feature": ["deeper_opat"]}`

    Right with `aoe_mode="2"`: `{"feature": ["deeper_opat"]}`
    """


AOE: JsonFormat[RawDocument] = JsonFormat(
    "the AOE configuration",
    Schema(
        {
            "tune_ops_name": Key(Items(LimitedText()), source=_DOC),
            "tune_ops_type": Key(Items(LimitedText()), source=_DOC),
            "tune_optimization_level": Key(Choice(LEVELS), source=_DOC),
            "feature": Key(Items(Choice(tuple(FEATURES))), source=_DOC),
        },
        closed=True,
    ),
    one_rule(aoe_config_structure),
    content,
)


def check(
    model: RawDocument,
    target: Target = ANY_TARGET,
    places: Places = ANYWHERE,
    aoe_mode: Optional[str] = None,
) -> Tuple[Diagnostic, ...]:
    """Features that do not go with the mode, or with each other.

    Args:
        model: the configuration.
        target: not needed here; no finding depends on it.
        places: where the parts are (``Parsed.places``).
        aoe_mode: the value of that option, where it is known.
    """
    return tuple(_judged(model.value.get("feature", ()), places, aoe_mode))


def _judged(
    features: Sequence[str], places: Places, aoe_mode: Optional[str]
) -> Iterator[Diagnostic]:
    for index, feature in enumerate(features if aoe_mode is not None else ()):
        if aoe_mode != FEATURES[feature]:
            message = 'the feature {} requires aoe_mode "{}", but aoe_mode is {}'
            message = phrase(message, shown(feature), FEATURES[feature], shown(aoe_mode))
            yield aoe_feature_mode.diagnostic(message, places.place(("feature", index)))
    if aoe_mode is None and len(set(features)) > 1:
        message = phrase(
            "the features {} need different values of aoe_mode",
            listed(phrase("{} ({})", name, mode) for name, mode in FEATURES.items()),
        )
        yield aoe_feature_mode.diagnostic(message, places.place(("feature",)))


def _looks_like(sample: Sample) -> bool:
    names = [str(key).lower().replace("-", "_") for key in sample.top]
    features = sample.top.get("feature")
    listed_here = isinstance(features, list) and any(item in features for item in FEATURES)
    return listed_here or any(name.startswith("tune_op") for name in names)


FORMAT = raw_format(
    AOE,
    check,
    name="aoe",
    title="operators that AOE tunes",
    default_name="aoe_config.json",
    options=("aoe_config_file",),
    looks_like=_looks_like,
    marks="tune_op",
)
parse, render, load, save = FORMAT.parse, FORMAT.render, FORMAT.load, FORMAT.save

__all__ = ["FEATURES", "FORMAT", "LEVELS", "check", "load", "parse", "render", "save"]
