"""Training scripts: from Python source to settings and findings, without running anything.

Every path through a script is followed; :func:`read_script` gives the settings of every
configuration block on every path, and :func:`judge_script` applies the rules to all of them
and says each fault once.
"""

import os
from typing import Iterable, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.settings import Settings, SourceKind
from npu_config.core.target import NO_TARGET, OwnTarget, Target
from npu_config.python_flow.module import Module
from npu_config.python_flow.source import (
    Imported,
    Undecodable,
    Unparsable,
    decode,
    decode_as_imported,
    looks_like_python_2,
    words_of,
)
from npu_config.rules.overrides import Override, applied
from npu_config.rules.reading import Around, Load, Reading
from npu_config.script.checks import find_situations, may_find_situations
from npu_config.script.interpreter import run_all
from npu_config.script.judging import judge_variants, unfollowed
from npu_config.script.neighbours import remembering
from npu_config.script.paths import Path
from npu_config.script.reading import Variant, signature, variants_of
from npu_config.script.script import Script
from npu_config.script.vocabulary import may_matter, unmigrated
from npu_config.text.rules import empty_program, not_checked_here
from npu_config.text.source import guarded, holds_code

__all__ = [
    "script_not_parsed",
    "ScriptReading",
    "judge_script",
    "may_matter",
    "read",
    "read_script",
    "situations_of",
]


_OF_A_PACKAGE = "__init__.py"
"""The name of a script that may well be empty."""


@declare("NPU830", Severity.ERROR, source=("Python language reference",))
def script_not_parsed() -> None:
    """A script is not Python 3 and is not checked.

    Python 2 scripts (``print "loss", loss``) cannot be parsed, and neither can files with merge
    conflict markers or incomplete lines.  All other files are still checked.

    Wrong:

        print "loss", loss

    Right:

        print("loss", loss)
    """


@declare("NPU831", Severity.ERROR, source=("PEP 263",))
def script_not_decoded() -> None:
    """A script cannot be decoded with the encoding that Python would use.

    The encoding is UTF-8, unless a comment in one of the first two lines declares another one (PEP
    263).  Python does not run the script.

    In a module that is imported, comments may contain any bytes: a module with such bytes in a
    comment is checked like any other module, and the finding is a warning unless the file itself
    is run.

    Wrong, for a file that was saved as GBK:

        import os

    Right:

        # -*- coding: gbk -*-
        import os
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ScriptReading(Reading):
    """What was found in one script.

    Args:
        script: the parsed script; None when it could not be parsed.
        variants: the settings with the paths that lead to them.
        paths: every path, by starting point.
    """

    script: Optional[Script] = None
    variants: Tuple[Variant, ...] = ()
    paths: Tuple[Tuple[Path, ...], ...] = ()

    @property
    def lasting(self) -> Tuple[Settings, ...]:
        """The settings that hold in the end."""
        return tuple(each.settings for each in self.variants if each.shadowed_by is None)

    def findings(self, around: Around) -> List[Diagnostic]:
        """Every finding once, whatever the number of paths that lead to it."""
        found = list(self.diagnostics)
        if self.script is not None:
            with remembering():
                found += judge_variants(self.script, self.variants, self.paths, around)
            found += unfollowed(self.script)
        return found

    def overridden(self, overrides: Sequence[Override]) -> "ScriptReading":
        """What was read, with these values in every configuration that lasts."""
        if not overrides:
            return self
        variants = tuple(
            each
            if each.shadowed_by is not None or each.is_part
            else each._replace(settings=applied(each.settings, overrides))
            for each in self.variants
        )
        settings = tuple(each.settings for each in variants)
        return attr.evolve(self, variants=variants, settings=settings)

    def loads(self) -> Iterable[Load]:
        """What NpuConfig.load of npu_config is given, and what is read into a ConfigProto."""
        runs = [path.outcome for group in self.paths for path in group if not path.supposed]
        loaded = [each for run in runs for each in run.loaded if each.ours]
        found = {
            (e.place, e.file, e.target, tuple(each.text for each in e.overrides)): Load(
                e.place, e.file, e.target, e.is_part, e.kind, e.overrides
            )
            for e in loaded
        }
        return found.values()

    def forget(self) -> None:
        """Let the script go as soon as this reading goes; nothing is judged any more."""
        if self.script is not None:
            self.script.forget()
        for path in (path for group in self.paths for path in group):
            path.outcome.forget_objects()


def read(data: bytes, path: Optional[str]) -> ScriptReading:
    """Read the bytes of a script, as Python would decode them."""
    try:
        text, encoding = decode(data)
    except Undecodable as error:
        imported = decode_as_imported(data)
        if imported is not None:
            return _imported(imported, error, path)
        finding = script_not_decoded.diagnostic(
            phrase("{}; Python does not run this file", error),
            Place(path, error.line, 1),
            help="save it as UTF-8, or declare its encoding in the first line",
        )
        return ScriptReading("script", path, diagnostics=(finding,), unchecked="not text")
    reading = attr.evolve(read_script(text, path), encoding=encoding)
    if not holds_code(text) and os.path.basename(path or "") != _OF_A_PACKAGE:
        return attr.evolve(reading, diagnostics=(*reading.diagnostics, empty_program(path)))
    return reading if may_matter(data) else _if_unmigrated(reading, data)


def _if_unmigrated(reading: ScriptReading, data: bytes) -> ScriptReading:
    """A script that names nothing of the NPU is checked where that is for others to do."""
    found = None if reading.unchecked is not None else unmigrated(data, reading.path)
    if found is None:
        return reading
    note = not_checked_here.diagnostic(
        phrase("this is {}, which is not checked here", found.what),
        Place(reading.path),
        help=found.help,
    )
    return attr.evolve(reading, diagnostics=(*reading.diagnostics, note), unchecked=found.why)


def _imported(file: Imported, error: Undecodable, path: Optional[str]) -> ScriptReading:
    """A file with a comment that is not UTF-8 is checked as any other one."""
    reading = attr.evolve(read_script(file.text, path), encoding=file.encoding)
    if file.runs:
        return reading
    is_program = reading.script is not None and reading.script.is_program
    finding = script_not_decoded.diagnostic(
        phrase("{}; Python can import the file, but does not run it as a script", error),
        Place(path, error.line, 1),
        help="save it as UTF-8",
        severity=Severity.ERROR if is_program else Severity.WARNING,
    )
    return attr.evolve(reading, diagnostics=(finding, *reading.diagnostics))


def read_script(
    text: str, path: Optional[str] = None, environ: Optional[Mapping[str, str]] = None
) -> ScriptReading:
    """The settings of every configuration block of a script, along every path through it.

    Args:
        text: the script, with its own line ends.
        path: its file, for the places.
        environ: the environment variables that it is known to be started with.
    """
    try:
        script = Script(text, path, environ or {})
        if script.is_of_other_adapter:
            return _of_other_adapter(text, path)
        groups = run_all(script, signature)
    except Unparsable as error:
        return _unparsable(text, path, str(error), error.line, error.column)
    except RecursionError:
        return _unparsable(text, path, "nested too deeply to be analysed", None, None)
    variants = variants_of(script, groups)
    own = _target_of(variants)
    return ScriptReading(
        "script",
        path,
        settings=tuple(variant.settings for variant in variants),
        target=own.target,
        unreadable=own.unknown,
        text=text,
        script=script,
        variants=tuple(variants),
        paths=tuple(tuple(group) for group in groups),
    )


def judge_script(
    text: str,
    path: Optional[str] = None,
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: bool = False,
) -> List[Diagnostic]:
    """Every finding about a script.

    Args:
        text: the script.
        path: its file, for the places.
        target: narrows product-limited rules.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system: paths must exist and be usable.
    """
    return read_script(text, path).judge(Around(target, None, environ, on_host))


def situations_of(
    text: str, path: Optional[str] = None, parsed: Optional[Module] = None
) -> List[Diagnostic]:
    """The documented troubles that the text of a script shows, as :func:`judge_script` has them.

    It is parsed only where its words may mean trouble, and its paths are followed only where a
    check asks for them.

    Args:
        text: the script.
        path: its file, for the places.
        parsed: a script that was parsed from the same text, or from another one.
    """
    if not may_find_situations(words_of(text)):
        return []

    def paths() -> List[Path]:
        return [one for group in run_all(script, signature) for one in group]

    try:
        with guarded(path):
            try:
                with remembering():
                    script = Script(text, path, {}, parsed)
                    try:
                        is_other = script.is_of_other_adapter
                        return [] if is_other else list(find_situations(script, paths))
                    finally:
                        script.forget()
            except (Unparsable, RecursionError):
                return []
    except NpuConfigError as error:
        return list(error.diagnostics)


def _target_of(variants: Iterable[Variant]) -> OwnTarget:
    """The target that every builder of a script names; where they differ there is no such one."""
    targets = {each.target for each in variants if each.settings.source_kind is SourceKind.BUILDER}
    return targets.pop() if len(targets) == 1 else NO_TARGET


def _of_other_adapter(text: str, path: Optional[str]) -> ScriptReading:
    what = "a script for the adapter of TensorFlow 2"
    message = phrase("this is {}, which is not checked here", what)
    note = not_checked_here.diagnostic(
        message,
        Place(path),
        help="only scripts for TensorFlow 1.15 are checked: import npu_bridge or npu_config",
    )
    return ScriptReading("script", path, diagnostics=(note,), text=text, unchecked=what)


def _unparsable(
    text: str, path: Optional[str], reason: str, line: Optional[int], column: Optional[int]
) -> ScriptReading:
    old = looks_like_python_2(text)
    finding = script_not_parsed.diagnostic(
        "this is Python 2, which is not checked"
        if old
        else phrase("this is not Python 3: {}", reason),
        Place(path, line) if old else Place(path, line, column if column else None),
        help="convert it with 2to3" if old else None,
    )
    return ScriptReading(
        "script",
        path,
        diagnostics=(finding,),
        text=text,
        unchecked="Python 2" if old else "not Python 3",
    )
