"""The file of ``aoe_config_file``: which operators AOE tunes, and how.

Source: docs/en/tfadapter_1/apiref/session_config/AOE.md.
"""

from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.rule import declare
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles._convert import texts
from npu_config.sidefiles._shape import Shape, is_wrong, refuse
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Places
from npu_config.text.words import did_you_mean, listed, shown

LEVELS = ("O1", "O2")
FEATURES: Mapping[str, str] = {"deeper_opat": "2", "nonhomo_split": "1"}
_KEYS = {
    "tune_ops_name": "names",
    "tune_ops_type": "types",
    "tune_optimization_level": "level",
    "feature": "features",
}

_DOC = "docs/en/tfadapter_1/apiref/session_config/AOE.md"

STRUCTURE = declare(
    "NPU756",
    "aoe-config-structure",
    Severity.ERROR,
    """
    The AOE configuration file has a key or a value that does not belong there.

    The file is a JSON object: `tune_ops_name` and `tune_ops_type` are arrays of names (both
    together mean the union), `tune_optimization_level` is `O1` (high-performance tuning) or
    `O2` (normal), `feature` is an array of `deeper_opat` and `nonhomo_split`.  All four may
    be left out.

    Wrong: `{"tune_ops_type": "Conv2D", "tune_optimization_level": 2}`

    Right: `{"tune_ops_type": ["Conv2D"], "tune_optimization_level": "O2"}`
    """,
    options=("aoe_config_file",),
    facts=("aoe-config-file",),
    source=(_DOC,),
)

FEATURE_MODE = declare(
    "NPU757",
    "aoe-feature-mode",
    Severity.ERROR,
    """
    A feature of the AOE configuration file does not go with `aoe_mode`.

    `deeper_opat` needs `aoe_mode` 2 (operator tuning), `nonhomo_split` needs `aoe_mode` 1
    (subgraph tuning); so the two cannot stand in one file.

    Wrong with `aoe_mode="1"`: `{"feature": ["deeper_opat"]}`

    Right with `aoe_mode="2"`: `{"feature": ["deeper_opat"]}`
    """,
    options=("aoe_config_file", "aoe_mode"),
    facts=("aoe-feature-mode",),
    source=(_DOC,),
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class AoeConfig:
    """The content of an AOE configuration file.

    Args:
        names: node names, as they are after graph compilation.
        types: operator types; fused operators that contain one are tuned, too.
        level: ``"O1"`` or ``"O2"``; None: O2.
        features: of ``"deeper_opat"`` and ``"nonhomo_split"``.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    names: Tuple[str, ...] = attr.ib(default=(), converter=texts)
    types: Tuple[str, ...] = attr.ib(default=(), converter=texts)
    level: Optional[str] = None
    features: Tuple[str, ...] = attr.ib(default=(), converter=texts)

    def __attrs_post_init__(self) -> None:
        refuse(_faults(_plain(attr.astuple(self)), ANYWHERE))

    @classmethod
    def of(
        cls,
        names: Iterable[str] = (),
        types: Iterable[str] = (),
        level: Optional[str] = None,
        features: Iterable[str] = (),
    ) -> "AoeConfig":
        """The file with these entries; see the class.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        fields = (texts(names), texts(types), level, texts(features))
        judged = _judged(fields[3] if isinstance(fields[3], tuple) else (), ANYWHERE, None)
        refuse((*_faults(_plain(fields), ANYWHERE), *judged))
        return cls(*fields)


def _plain(fields: Tuple[Any, ...]) -> Dict[str, Any]:
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in zip(_KEYS, fields)
        if value not in ((), None)
    }


def _faults(value: Any, places: Places) -> List[Diagnostic]:
    shape = Shape(STRUCTURE, places)
    top = shape.object(value, (), "the file")
    shape.keys(top, (), _KEYS, "at the top level")
    for key in ("tune_ops_name", "tune_ops_type"):
        for path, name in shape.texts(top.get(key, []), (key,), '"{}"'.format(key)):
            if not name.strip():
                message = 'an empty text in "{}" names no operator'.format(key)
                shape.report(message, places.place(path))
    key = "tune_optimization_level"
    level = shape.text(top.get(key, "O2"), (key,), '"{}"'.format(key))
    if level is not None and level not in LEVELS:
        message = '"{}" is {}; legal: {}'.format(key, shown(level), listed(LEVELS))
        shape.report(message, places.place((key,)), did_you_mean(level, LEVELS))
    for path, name in shape.texts(top.get("feature", []), ("feature",), '"feature"'):
        if name not in FEATURES:
            message = "unknown feature {}; legal: {}".format(shown(name), listed(FEATURES))
            shape.report(message, places.place(path), did_you_mean(name, FEATURES))
    return shape.found


def parse(text: str, path: Optional[str] = None, target: Target = ANY_TARGET) -> Parsed[AoeConfig]:
    """Read an AOE configuration file.

    Args:
        text: anything.
        path: the file it came from.
        target: not needed here; no finding depends on it.
    """
    reading = _json.read(text, path)
    found = _faults(reading.value, reading)
    understood = reading.complete and not is_wrong(found)

    def build() -> AoeConfig:
        return AoeConfig(**{_KEYS[key]: value for key, value in reading.value.items()})

    return conclude(
        (*reading.diagnostics, *found),
        reading,
        build if understood else None,
        lambda model: check(model, target, reading),
    )


def check(
    model: AoeConfig,
    target: Target = ANY_TARGET,
    places: Places = ANYWHERE,
    aoe_mode: Optional[str] = None,
) -> Tuple[Diagnostic, ...]:
    """Features that do not go with the mode, or with each other.

    Args:
        model: the configuration.
        target: not needed here; no finding depends on it.
        places: where the parts stand (``Parsed.places``).
        aoe_mode: the value of that option, where it is known.
    """
    return tuple(_judged(model.features, places, aoe_mode))


def _judged(
    features: Tuple[Any, ...], places: Places, aoe_mode: Optional[str]
) -> Iterator[Diagnostic]:
    known = [feature for feature in features if feature in FEATURES]
    for feature in known if aoe_mode is not None else ():
        needed = FEATURES[feature]
        if aoe_mode != needed:
            message = 'the feature {} needs aoe_mode "{}", which is {}'
            message = message.format(shown(feature), needed, shown(aoe_mode))
            place = places.place(("feature", features.index(feature)))
            yield FEATURE_MODE.diagnostic(message, place)
    if aoe_mode is None and len(set(known)) > 1:
        message = "the features {} need different values of aoe_mode".format(
            listed("{} ({})".format(name, mode) for name, mode in FEATURES.items())
        )
        yield FEATURE_MODE.diagnostic(message, places.place(("feature",)))


def render(model: AoeConfig) -> str:
    """The canonical text of the file."""
    return _json.write(_plain(attr.astuple(model)))


def _looks_like(sample: Sample) -> bool:
    names = [str(key).lower().replace("-", "_") for key in sample.top]
    features = sample.top.get("feature")
    listed_here = isinstance(features, list) and any(item in features for item in FEATURES)
    return listed_here or any(name.startswith("tune_op") for name in names)


FORMAT: Format[AoeConfig] = Format(
    name="aoe",
    title="which operators AOE tunes",
    default_name="aoe_config.json",
    options=("aoe_config_file",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
)
load = FORMAT.load
save = FORMAT.save

__all__ = ["FEATURES", "FORMAT", "LEVELS", "AoeConfig", "check", "load", "parse", "render",
           "save"]  # fmt: skip
