"""What a command of a launch script starts."""

import re
from types import MappingProxyType
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Place
from npu_config.core.names import OURS, of_modules
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.syntax import Spot, place_of
from npu_config.launch.shell.words import ShellVariable, Value

_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*\Z")
_SCRIPT = re.compile(r"\S+\.py\Z")
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
_NO_TRAINING = frozenset(("pip", "venv"))  # modules
_STARTERS: Dict[str, Optional[str]] = {
    # starter of processes -> the module whose framework it is of; None: of any
    "mpirun": None,
    "mpiexec": None,
    "horovodrun": None,
    "accelerate": "accelerate",
    "deepspeed": "deepspeed",
    "fleetrun": "paddle",
    "llamafactory-cli": "llamafactory",
    "msrun": "mindspore",
    "swift": "swift",
    "torchrun": "torch",
    "vllm": "vllm",
}
_COUNTS = frozenset(("n", "np", "num_proc", "nproc_per_node", "num_processes", "num_gpus"))
_STARTER = re.compile(
    r"(?<![\w./-])({})(?![\w./-])|-m[ \t]+([a-z_]\w*)".format(
        "|".join(re.escape(name) for name, module in _STARTERS.items() if module is not None)
    )
)
_COMMENTS = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_STARTING = {*_STARTERS, *_SHELLS, *_WRAPPERS, *_WITH_WORD}
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


class Launch(NamedTuple):
    """A command that is started.

    ``kind`` is ``"python"``, ``"shell"`` (a script) or the name of a starter of processes such
    as ``mpirun``; ``script`` is the file that is run, where it is known; ``spot`` that of the
    command; ``variables`` are those that it gets, ``unset`` those that certainly are not
    set.  ``process`` tells those apart that run at the same time: the loop that
    starts them and its round.  ``made`` says that something before it may have made the file
    that ``RANK_TABLE_FILE`` names, and ``table`` is the text that the script wrote to it.
    ``framework`` is that of the starter, None for one of any.  ``doubtful`` are variables that it
    gets on some of the paths to it, or with one value or another.
    """

    kind: str
    script: Optional[str]
    arguments: Tuple[Value, ...]
    spot: Optional[Spot]
    variables: Dict[str, ShellVariable]
    unset: FrozenSet[str]
    process: Optional[Tuple[int, int]] = None
    made: bool = False
    table: Optional[ShellVariable] = None
    framework: Optional[str] = None
    doubtful: Mapping[str, ShellVariable] = MappingProxyType({})

    @property
    def place(self) -> Place:
        """Where the command stands."""
        return place_of(self.spot)

    @property
    def text(self) -> str:
        """The command as it is written; empty for what no command starts."""
        if self.spot is None:
            return ""
        script, begin, end = self.spot
        return script.source[begin:end]

    @property
    def environment(self) -> Dict[str, Value]:
        """The values of the variables."""
        return {name: variable.value for name, variable in self.variables.items()}


class Started(NamedTuple):
    """A command without what stands before it: the variables it adds, and its words.

    Of kind ``"text"`` is ``bash -c``, whose ``script`` is the text itself; ``removed`` are the
    variables that it does not get, None for all.  ``framework`` as in :class:`Launch`.
    """

    variables: Dict[str, Value]
    kind: str
    script: Optional[str]
    arguments: Tuple[Value, ...]
    removed: Optional[FrozenSet[str]] = frozenset()
    framework: Optional[str] = None


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
        return _starter(variables, name, rest[1:], _STARTERS[name])
    return None


def _starter(
    variables: Dict[str, Value], kind: str, words: Sequence[Value], module: Optional[str]
) -> Started:
    framework = None if module is None else of_modules((module,))
    return Started(variables, kind, _script_in(words), tuple(words), frozenset(), framework)


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


def frameworks_in(text: str) -> Set[str]:
    """The frameworks of the starters that a launch script names, wherever it does."""
    named = _STARTER.findall(without_comments(text))
    frameworks = (of_modules((module or _STARTERS[starter] or "",)) for starter, module in named)
    return {framework for framework in frameworks if framework is not None}


def without_comments(text: str) -> str:
    """A script without the lines that are comments."""
    return _COMMENTS.sub("", text)


def processes_of(words: Sequence[Value]) -> Value:
    """How many processes a starter is told to start; UNKNOWN where it is not told."""
    for number, word in enumerate(words):
        if word is UNKNOWN or word.endswith(".py"):
            break
        option, sign, count = word.partition("=")
        if option.strip("-").replace("-", "_") in _COUNTS:
            following = words[number + 1] if number + 1 < len(words) else UNKNOWN
            return count if sign else following
    return UNKNOWN


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
            return _module(variables, rest[0], rest[1:]) if rest else None
        if option == "-c":
            return None
        if option in ("-W", "-X") and rest:
            rest.pop(0)
    if not rest:
        return None
    script = rest[0]
    return Started(variables, "python", None if script is UNKNOWN else script, tuple(rest[1:]))


def _module(
    variables: Dict[str, Value], module: Value, words: Sequence[Value]
) -> Optional[Started]:
    if module is UNKNOWN:
        return Started(variables, "python", None, tuple(words))
    package = module.partition(".")[0]
    if package in _NO_TRAINING:
        return None
    if of_modules((package,)) not in (None, *OURS):
        return _starter(variables, "python -m " + module, words, package)
    return Started(variables, "python", _file_of(module), tuple(words))


def _file_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _script_in(words: Sequence[Value]) -> Optional[str]:
    """The script among the words of a starter, or the file of its module."""
    for number, word in enumerate(words):
        if word in ("-m", "--module"):
            following = words[number + 1] if number + 1 < len(words) else UNKNOWN
            return None if following is UNKNOWN else _file_of(following)
        if word is not UNKNOWN and _SCRIPT.match(word):
            return word
    return None
