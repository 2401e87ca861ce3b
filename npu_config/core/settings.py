"""Settings: the one form that every input is turned into before it is judged.

An option name maps to a :class:`Setting`: its value, the wire field that held it,
and where it is.  Three things are kept apart: an option that is absent, one
that is set to a known value, and one that is set to a value that cannot be known
here (:data:`UNKNOWN`: a command-line flag, an environment variable).
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, Union

from npu_config.core.calls import checked_mapping
from npu_config.core.diagnostics import NOWHERE, Place


class Unknown(enum.Enum):
    """The type of :data:`UNKNOWN`."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN is neither true nor false; compare with `is UNKNOWN`")


UNKNOWN = Unknown.UNKNOWN
"""A value that cannot be known: given for an option, no rule complains of it."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class SourceKind(enum.Enum):
    """What the settings were read from; a few defaults and severities depend on it."""

    BUILDER = "builder"
    FILE = "file"
    PROTO = "proto"
    SCRIPT = "script"
    RUN_CONFIG = "run_config"


class Setting(NamedTuple):
    """One option as it was set.

    ``wire`` is the AttrValue field that held it (``"b"``, ``"i"``, ``"s"``, ``"f"``,
    another field's name, or ``""`` for a key without a value) where the input has such
    fields, else None.  ``name_place`` is the place of the name, ``place`` that of the
    value; inputs that cannot tell them apart give the same.  ``field_place`` is the place
    of the field with its value, ``i: 10``, in the text of a ConfigProto.
    ``above``: the value cannot be known here, but is a number greater than this one.
    ``content``: of the file that the value names, for one that came with a builder.
    ``by``: what set it at its place: a task of the builder, ``NAME=VALUE`` of the command line.
    ``is_implied``: nobody gave this value, what set it brings it along.
    ``file``: the file that a value names which cannot be known itself, seen from here.
    ``origin``: kind, path, line and ``by`` of a value whose origin is recorded.
    """

    value: Any
    wire: Optional[str] = None
    place: Place = NOWHERE
    name_place: Optional[Place] = None
    field_place: Optional[Place] = None
    above: Optional[int] = None
    content: Optional[str] = None
    by: Optional[str] = None
    is_implied: bool = False
    origin: Optional[Tuple[str, Optional[str], Optional[int], Optional[str]]] = None
    file: Optional[str] = None

    @property
    def place_of_name(self) -> Place:
        """Where the name is; the place of the value where the input cannot tell."""
        return self.name_place or self.place


def settings_at(place: Place, values: Mapping[str, Any]) -> Dict[str, Setting]:
    """Plain values that are all at one place."""
    make: Any = tuple.__new__  # past the defaults
    others = Setting(None, None, place)[1:]
    return {
        name: make(Setting, (value,) + others)  # noqa: RUF005 - unpacking is slower on 3.7
        for name, value in values.items()
    }


class SessionFacts(NamedTuple):
    """What a ConfigProto (or a script that builds one) says beside the options.

    Values are the enum names of TensorFlow (``"OFF"``, ``"ON"``, ``"DEFAULT"``,
    ``"NO_MEM_OPT"``, ``"MANUAL"`` ...), a bool, or :data:`UNKNOWN`.

    Args:
        optimizers: names of the ``custom_optimizers`` entries, in order.
        remapping: ``rewrite_options.remapping``.
        memory_optimization: ``rewrite_options.memory_optimization``.
        global_jit_level: ``optimizer_options.global_jit_level``.
        allow_soft_placement: that field.
        place: the place of the session configuration as a whole.
        optimizer_places: one place for each of ``optimizers``.
        places: where the other fields are written out, by field name; a field that is
            not written out is not in it.
    """

    optimizers: Tuple[Union[str, Unknown], ...] = ()
    remapping: Union[str, Unknown] = UNKNOWN
    memory_optimization: Union[str, Unknown] = UNKNOWN
    global_jit_level: Union[str, Unknown] = UNKNOWN
    allow_soft_placement: Union[bool, Unknown] = UNKNOWN
    place: Place = NOWHERE
    optimizer_places: Tuple[Place, ...] = ()
    places: Mapping[str, Place] = _NOTHING


class Settings(NamedTuple):
    """A set of options from one input, along one path through it.

    Args:
        entries: option name to :class:`Setting`.
        source_kind: what it was read from.
        open: True when more options may be set than could be read (a loop over names,
            a helper from elsewhere); then no option counts as certainly absent.
        session: what the input says beside the options, where the input has it.
        place: the place of the whole, for findings about what is missing.
        extra: arguments of NPURunConfig (and NPUEstimator) that are not options, such as
            ``save_checkpoints_steps``, by name; an argument that was given as None is there
            too.  Fields of nested objects and of the Estimator have dotted names:
            ``dump_config.dump_mode``, ``estimator.model_dir``.
        needs_files: True when the options are used and nobody writes the files whose
            ``content`` they carry.
    """

    entries: Mapping[str, Setting]
    source_kind: SourceKind = SourceKind.BUILDER
    open: bool = False
    session: Optional[SessionFacts] = None
    place: Place = NOWHERE
    extra: Mapping[str, Setting] = _NOTHING
    needs_files: bool = False

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        source_kind: SourceKind = SourceKind.BUILDER,
        place: Place = NOWHERE,
    ) -> Settings:
        """Settings from plain values that are all at one place.

        Raises:
            TypeError: ``values`` is not a mapping.
        """
        checked_mapping(values, "options", "NpuConfig.load(path) reads a file")
        return cls(
            settings_at(place, values),
            source_kind,
            place=place,
        )


class Stated(NamedTuple):
    """What a source states, and in words what is not one certain value of one option.

    Args:
        settings: every option that it names, UNKNOWN where no one value is certain.
        words: option to what the source says of its value, where that is not certain.
        unused: option to what becomes of it, for those that no configuration has in the end.
        remarks: sentences about the configuration as a whole.
        more: that the source may set more options, as a sentence; None when it does not.
        arguments: those of NPURunConfig that are no options.
    """

    settings: Settings
    words: Mapping[str, str] = _NOTHING
    unused: Mapping[str, str] = _NOTHING
    remarks: Tuple[str, ...] = ()
    more: Optional[str] = None
    arguments: Tuple[str, ...] = ()
