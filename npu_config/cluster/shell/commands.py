"""What a command of a launch script starts."""

import re
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.cluster.shell.state import Value, Variable
from npu_config.cluster.shell.syntax import Spot, place_of
from npu_config.core.diagnostics import Place
from npu_config.core.settings import UNKNOWN

_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*\Z")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_SHELLS = frozenset(("bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/sh"))
_WRAPPERS: Dict[str, str] = {
    # command before the command -> its options that take a word of their own
    "nohup": "",
    "exec": "",
    "sudo": "ugCp",
    "time": "fo",
    "nice": "n",
    "stdbuf": "ioe",
    "setsid": "",
    "command": "",
    "numactl": "",
    "env": "uCS",
    "unbuffer": "",
}
_WITH_WORD = {"timeout": 1, "taskset": 1}
_STARTERS = frozenset(("mpirun", "mpiexec", "horovodrun", "torchrun", "deepspeed"))
_STARTING = _STARTERS | _SHELLS | {*_WRAPPERS, *_WITH_WORD}
MOVES = frozenset(("cd", "pushd", "popd"))
# Commands that make no file by themselves, whatever their words are.
MAKES_NOTHING = MOVES | {
    "[", ":", "basename", "cat", "chmod", "chown", "date", "dirname", "echo", "egrep", "false",
    "grep", "head", "hostname", "kill", "ls", "mkdir", "npu-smi", "nproc", "printf", "ps", "pwd",
    "readlink", "realpath", "rm", "rmdir", "seq", "sleep", "tail", "test", "trap", "true", "type",
    "ulimit", "uname", "wait", "wc", "which", "whoami",
}  # fmt: skip
# What these make has a name of their words, or lies in a folder with such a name.
MAKES_ITS_WORDS = frozenset(("cp", "ln", "mv", "tee", "touch"))
_TORCH = re.compile(r"torch\.distributed(\.launch|\.run)?\Z")


class Launch(NamedTuple):
    """A command that is started.

    ``kind`` is ``"python"``, ``"shell"`` (a script) or the name of a starter of processes such
    as ``mpirun``; ``script`` is the file that is run, where it is known; ``spot`` that of the
    command; ``variables`` are those that it gets, ``unset`` those that certainly are not
    set.  ``process`` tells those apart that run at the same time: the loop that
    starts them and its round.  ``made`` says that something before it may have made the file
    that ``RANK_TABLE_FILE`` names, and ``table`` is the text that the script wrote to it.
    """

    kind: str
    script: Optional[str]
    arguments: Tuple[Value, ...]
    spot: Optional[Spot]
    variables: Dict[str, Variable]
    unset: FrozenSet[str]
    process: Optional[Tuple[int, int]] = None
    made: bool = False
    table: Optional[Variable] = None

    @property
    def place(self) -> Place:
        """Where the command stands."""
        return place_of(self.spot)

    @property
    def environment(self) -> Dict[str, Value]:
        """The values of the variables."""
        return {name: variable.value for name, variable in self.variables.items()}


class Started(NamedTuple):
    """A command without what stands before it: the variables it adds, and its words.

    Of kind ``"text"`` is ``bash -c``, whose ``script`` is the text itself; ``removed`` are the
    variables that it does not get, None for all.
    """

    variables: Dict[str, Value]
    kind: str
    script: Optional[str]
    arguments: Tuple[Value, ...]
    removed: Optional[FrozenSet[str]] = frozenset()


def may_start(name: str) -> bool:
    """False for the name of a command that certainly starts no training."""
    name = name.rsplit("/", 1)[-1] if name.startswith("/") else name
    return name in _STARTING or name.endswith(".sh") or _PYTHON.match(name) is not None


def started(words: Sequence[Value]) -> Optional[Started]:
    """What a command starts; None for commands that start no training."""
    variables: Dict[str, Value] = {}
    removed: Optional[FrozenSet[str]] = frozenset()
    rest: List[Value] = list(words)
    while rest:
        name = rest[0]
        if name is UNKNOWN:
            return None
        name = name.rsplit("/", 1)[-1] if name.startswith("/") else name
        if name in _WITH_WORD:
            rest = _after_options(rest[1:], "")[_WITH_WORD[name] :]
        elif name in _WRAPPERS:
            if name == "env":
                removed = _removed(rest[1:], removed)
            rest = _after_options(rest[1:], _WRAPPERS[name])
            while name == "env" and rest and rest[0] is not UNKNOWN:
                match = _ASSIGNMENT.match(rest[0])
                if match is None:
                    break
                variables[match.group(1)] = rest[0][match.end() :]
                rest = rest[1:]
        else:
            break
    found = _what(variables, rest)
    return found if found is None or removed == frozenset() else found._replace(removed=removed)


def _removed(words: Sequence[Value], before: Optional[FrozenSet[str]]) -> Optional[FrozenSet[str]]:
    """The variables that ``env`` takes away; None for all of them."""
    rest, removed = list(words), before
    while removed is not None and rest:
        option = rest.pop(0)
        if option is UNKNOWN or not option.startswith("-"):
            break
        if option in ("-", "-i", "--ignore-environment"):
            removed = None
        elif option == "-u" and rest:
            name = rest.pop(0)
            removed = None if name is UNKNOWN else removed | {name}
        elif option.startswith(("-u", "--unset=")):
            removed = removed | {option.partition("=")[2] or option[2:]}
    return removed


def _what(variables: Dict[str, Value], rest: List[Value]) -> Optional[Started]:
    """What a command without anything before it starts."""
    if not rest or rest[0] is UNKNOWN:
        return None
    name = rest[0]
    if _PYTHON.match(name):
        return _python(variables, rest[1:])
    if name in _SHELLS:
        for number, word in enumerate(rest[1:], 2):
            if word is UNKNOWN or not word.startswith("-") or word.startswith("--"):
                break
            if "c" in word:
                return _text(variables, rest[number:])
        after = _after_options(rest[1:], "")
        if after and after[0] is not UNKNOWN:
            return Started(variables, "shell", after[0], tuple(after[1:]))
        return None
    if name.endswith(".sh") and "/" in name:  # without one bash looks along PATH only
        return Started(variables, "shell", name, tuple(rest[1:]))
    if name in _STARTERS:
        return Started(variables, name, _script_in(rest[1:]), tuple(rest[1:]))
    return None


def _text(variables: Dict[str, Value], words: Sequence[Value]) -> Optional[Started]:
    if not words:
        return None
    script = words[0]
    return Started(variables, "text", None if script is UNKNOWN else script, tuple(words[2:]))


def inner(words: Sequence[Value]) -> Optional[Started]:
    """The shell that a starter of processes such as ``mpirun`` is given to start."""
    for number, word in enumerate(words):
        if word in _SHELLS or (word is not UNKNOWN and word.endswith(".sh")):
            found = started(words[number:])
            return found if found is not None and found.kind in ("shell", "text") else None
    return None


def _after_options(words: Sequence[Value], with_word: str) -> List[Value]:
    rest = list(words)
    while rest and rest[0] is not UNKNOWN and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        assert option is not UNKNOWN
        if len(option) == 2 and option[1] in with_word and rest:
            rest.pop(0)
    return rest


def _python(variables: Dict[str, Value], words: Sequence[Value]) -> Optional[Started]:
    rest = list(words)
    while rest and rest[0] is not UNKNOWN and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-m":
            module = rest[0] if rest else UNKNOWN
            if module is not UNKNOWN and _TORCH.match(module):
                return Started(
                    variables, "python -m " + module, _script_in(rest[1:]), tuple(rest[1:])
                )
            return Started(variables, "python", None, tuple(rest[1:]))
        if option == "-c":
            return None
        if option in ("-W", "-X") and rest:
            rest.pop(0)
    if not rest:
        return None
    script = rest[0]
    return Started(variables, "python", None if script is UNKNOWN else script, tuple(rest[1:]))


def _script_in(words: Sequence[Value]) -> Optional[str]:
    for word in words:
        if word is not UNKNOWN and word.endswith(".py"):
            return word
    return None
