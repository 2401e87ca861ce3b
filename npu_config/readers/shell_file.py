"""Launch scripts in bash: what they export is judged as the environment of what they start.

The training scripts that they start are read with the variables that they get, so that what those
read from ``os.environ`` is known.
"""

import os
import re
from dataclasses import replace
from typing import Dict, FrozenSet, Iterable, List, Optional, Set, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.core.processes import without_collector
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.check import Claims, Scripts, check_script, claims_of, why_unchecked
from npu_config.launch.shell.commands import Launch, without_comments
from npu_config.launch.shell.words import NOT_KNOWN
from npu_config.python_flow.source import Undecodable, decode
from npu_config.rules.reading import CANNOT_BE_READ, Around, Reading
from npu_config.script import may_matter, read_script
from npu_config.script.neighbours import any_file_has, framework_of, remembering
from npu_config.text.rules import empty_program, unreadable_file
from npu_config.text.source import holds_code, load

_ABOVE = ("..", os.path.join("..", ".."), os.path.join("..", "..", ".."))
"""Launch scripts stand in the folder of what they start or below, and change to it."""
_NAMED = re.compile(r"/([\w.-]{1,200}\.py)(?=[\s\"']|\Z)")
_MENTIONED = re.compile(r"(?<![\w.-])[\w./-]{1,200}\.py(?![\w.-])")
_MOST_MENTIONED = 16


class StartedScripts(Scripts):
    """The scripts that a launch script starts are asked, and what they import."""

    def __init__(self, path: Optional[str]) -> None:
        self._folder = os.path.dirname(path or "")
        self._files: Dict[str, Optional[str]] = {}
        self._frameworks: Dict[str, Optional[str]] = {}
        self._names: Dict[Tuple[str, str], bool] = {}

    def framework(self, launch: Launch) -> Optional[str]:
        """That of the script, else that of its starter."""
        file = self._file(launch)
        return (file and self._framework(file)) or launch.framework

    def mentioned(self, text: str) -> Set[str]:
        """The frameworks of the scripts that are named anywhere, and of the starters."""
        found = super().mentioned(text)
        names = dict.fromkeys(_MENTIONED.findall(without_comments(text)))
        for name in list(names)[:_MOST_MENTIONED]:
            file = self._found(name)
            framework = None if file is None else self._framework(file)
            found.update(() if framework is None else (framework,))
        return found

    def names(self, launch: Launch, variable: str) -> bool:
        """Whether the script holds the name, or a file that it imports."""
        file = self._file(launch)
        if file is None:
            return False
        if (file, variable) not in self._names:
            self._names[file, variable] = any_file_has(file, (variable,))
        return self._names[file, variable]

    def _file(self, launch: Launch) -> Optional[str]:
        script = launch.script
        if script is None:  # of a path that is not known the last name may be
            named = _NAMED.search(launch.text)
            script = named and named.group(1)
        return script and self._found(script)

    def _framework(self, file: str) -> Optional[str]:
        if file not in self._frameworks:
            self._frameworks[file] = framework_of(file)
        return self._frameworks[file]

    def _found(self, script: str) -> Optional[str]:
        if script not in self._files:
            self._files[script] = self._find(script)
        return self._files[script]

    def _find(self, script: str) -> Optional[str]:
        """The file of a script: where it is named, or beside or above the launch script."""
        folders = [self._folder, *(os.path.join(self._folder, up) for up in _ABOVE)]
        names = [script]
        if not os.path.isabs(script):
            names += [os.path.join(each, script) for each in folders]
        names += [os.path.join(each, os.path.basename(script)) for each in folders]
        return next((name for name in names if _is_file(name)), None)


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL in the path
        return False


_LARGEST = 1024 * 1024
_MOST_STARTS = 16
_READS = re.compile(rb"environ|getenv")
_READ = re.compile(r"""(?:environ(?:\.get)?|getenv)[ \t]{0,8}[(\[][ \t]{0,8}["'](\w{1,80})["']""")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ShellReading(Reading):
    """A launch script; what is wrong with it depends on the target and the files beside it."""

    @without_collector()
    def findings(self, around: Around) -> List[Diagnostic]:
        """Every finding about the environments of what it starts, and about what that reads."""
        target = around.target_of()
        with remembering():
            found, launches = check_script(
                self.text or "", self.path, target, around.on_host, StartedScripts(self.path)
            )
        return [*self.diagnostics, *found, *_in_scripts(launches, around)]

    @without_collector()
    def claims(self) -> Claims:
        """The places in jobs that it takes, to be compared with other scripts."""
        with remembering():
            return claims_of(self.text or "", self.path or "", StartedScripts(self.path))


def read(data: bytes, path: Optional[str]) -> Reading:
    """Take bytes as a launch script; bash does not mind what its comments are encoded in."""
    if b"\0" in data:
        message = "this is a binary file, not a script"
        fault = unreadable_file.diagnostic(message, Place(path), help="check the path")
        return Reading("shell", path, diagnostics=(fault,), unchecked=CANNOT_BE_READ)
    text = data.decode("utf-8", "replace")
    empty = () if holds_code(text) else (empty_program(path),)
    return ShellReading("shell", path, diagnostics=empty, text=text, unchecked=why_unchecked(text))


def _in_scripts(launches: Iterable[Launch], around: Around) -> List[Diagnostic]:
    """What is wrong in the scripts that are started, with the variables that they get only.

    What is wrong whatever they get is found when they are checked by themselves.
    """
    found: Dict[Tuple[object, ...], Diagnostic] = {}
    done: Set[Tuple[str, FrozenSet[Tuple[str, str]]]] = set()
    read: Dict[str, Tuple[Optional[str], FrozenSet[str]]] = {}
    for launch in launches:
        path = launch.script
        if launch.kind != "python" or path is None or len(done) >= _MOST_STARTS:
            continue
        if path not in read:
            read[path] = _text(path)
        text, wanted = read[path]
        given = _known(launch, wanted)
        if text is None or not given or (path, given) in done:
            continue
        done.add((path, given))
        alone = Around(around.target, around.default)
        before = {_identity(each) for each in read_script(text, path).judge(alone)}
        for each in read_script(text, path, dict(given)).judge(alone):
            if _identity(each) not in before:
                started = phrase(
                    "{}, as started by {}",
                    " ".join("{}={}".format(*pair) for pair in sorted(given)),
                    launch.place,
                )
                found.setdefault(
                    _identity(each),
                    replace(each, message=phrase("{} (with {})", each.message, started)),
                )
    return list(found.values())


def _identity(found: Diagnostic) -> Tuple[object, ...]:
    return found.rule, found.place, found.message


def _known(launch: Launch, names: FrozenSet[str]) -> FrozenSet[Tuple[str, str]]:
    given = ((name, launch.variables.get(name, NOT_KNOWN).value) for name in names)
    return frozenset((name, value) for name, value in given if value is not UNKNOWN)


def _text(path: str) -> Tuple[Optional[str], FrozenSet[str]]:
    """The text of a script that may matter and reads variables, and which these are."""
    data = load(path, _LARGEST)
    if isinstance(data, Diagnostic) or not _READS.search(data) or not may_matter(data):
        return None, frozenset()
    try:
        text = decode(data)[0]
    except Undecodable:
        return None, frozenset()
    return text, frozenset(_READ.findall(text))
