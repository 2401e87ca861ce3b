"""What a command of a launch script starts."""

import re
from types import MappingProxyType
from typing import Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Place
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.syntax import Spot, place_of
from npu_config.launch.shell.words import NAME, UNKNOWN_PART, ShellVariable, Value
from npu_config.python_flow.source import OURS, of_modules

_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*\Z")
_SCRIPT = re.compile(r"\S+\.py\Z")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")
_ASSIGNS_OR_STARTS = re.compile(r"\w=|\b(?:python[0-9.]{0,8}|bash|sh)[ \t]")
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
_BARE = frozenset(("-", "-i", "--ignore-environment"))
_TAKE_VARIABLES = frozenset(("env", "sudo"))
STDIN = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
"""The names of what a command is given to read."""


class _Carrier(NamedTuple):
    """A command whose options say which variables the process has that it starts.

    Args:
        one: the options that take ``NAME=value``, or the name of a variable that is there.
        several: those that take several of them with commas between.
        apart: those that are followed by a name and a value.
        files: those that name a file of lines ``NAME=value``.
        keeps: whether the process gets the variables of the command, too.
    """

    one: Tuple[str, ...] = ()
    several: Tuple[str, ...] = ()
    apart: Tuple[str, ...] = ()
    files: Tuple[str, ...] = ()
    keeps: bool = True


_CONTAINER = _Carrier(one=("--env", "-e"), files=("--env-file",), keeps=False)
_IMAGE = _Carrier(several=("--env",), files=("--env-file",))
_MPI = _Carrier(one=("-x",), apart=("-env", "-genv"))
_SLURM = _Carrier(several=("--export",))
_CARRIERS: Dict[str, _Carrier] = {
    "apptainer": _IMAGE,
    "bsub": _Carrier(several=("-env",)),
    "docker": _CONTAINER,
    "docker-compose": _CONTAINER,
    "kubectl": _Carrier(one=("--env",), keeps=False),
    "mpiexec": _MPI,
    "mpirun": _MPI,
    "nerdctl": _CONTAINER,
    "orterun": _MPI,
    "podman": _CONTAINER,
    "qsub": _Carrier(several=("-v",)),
    "salloc": _SLURM,
    "sbatch": _SLURM,
    "singularity": _IMAGE,
    "srun": _SLURM,
}
_REMOTE: Dict[str, str] = {
    # what runs a command elsewhere -> its options that take a word of their own
    "ssh": "BbcDEeFIiJLlmOopQRSWw",
    "pdsh": "wxtufl",
    "clush": "wxgfl",
}
_ELSEWHERE = frozenset((*_REMOTE, *_CARRIERS))
_PROGRAM = re.compile(r"[\w.-]+")
_TEXT_OPTIONS: Dict[str, Tuple[str, ...]] = {
    # what runs a text in a shell -> the options before it
    "flock": ("-c", "--command"),
    "runuser": ("-c", "--command"),
    "sbatch": ("--wrap",),
    "script": ("-c", "--command"),
    "su": ("-c", "--command"),
}
_TEXT_WORDS = frozenset(("parallel", "screen", "tmux", "watch"))
"""What runs a text in a shell that is one of its words."""
_READ_JOBS = frozenset(("bsub", "qsub", "sbatch"))
"""What reads the script of a job where it names none."""
_NEW_ENVIRONMENT = frozenset(("su", "runuser"))
_INSTALLERS = frozenset(
    [
        "add-apt-repository",
        "apt",
        "apt-get",
        "brew",
        "conda",
        "dnf",
        "git",
        "pip",
        "pip3",
        "rpm",
        "type",
        "which",
        "yum",
    ]
)
"""What names programs and does not start them."""
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
_COUNTS = frozenset(
    ("n", "np", "ntasks", "num_proc", "nproc_per_node", "num_processes", "num_gpus")
)
_STARTER = re.compile(
    r"(?<![\w./-])({})(?![\w./-])|-m[ \t]+([a-z_]\w*)".format(
        "|".join(re.escape(name) for name, module in _STARTERS.items() if module is not None)
    )
)
_COMMENTS = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_STARTING = {
    *_STARTERS, *_SHELLS, *_WRAPPERS, *_WITH_WORD, *_CARRIERS, *_REMOTE, *_TEXT_OPTIONS,
    *_TEXT_WORDS,
}  # fmt: skip
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

    ``kind`` is ``"python"``, ``"shell"`` (a script), ``"program"`` (any other that is given
    variables) or the name of a starter of processes such as ``mpirun``; ``script`` is the file
    that is run, where it is known; ``spot`` that of the command; ``variables`` are those that it
    gets, ``unset`` those that certainly are not
    set.  ``process`` tells those apart that run at the same time: the loop that
    starts them and its round.  ``made`` says that something before it may have made the file
    that ``RANK_TABLE_FILE`` names, and ``table`` is the text that the script wrote to it.
    ``framework`` is that of the starter, None for one of any.  ``doubtful`` are variables that it
    gets on some of the paths to it, or with one value or another.  ``copies`` is how often it is
    started at the same time, by ``srun -n``.
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
    copies: int = 1

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

    Of kind ``"text"`` is ``bash -c``, whose ``script`` is the text itself, and ``"python-text"``
    likewise; ``removed`` are the variables that it does not get, None for all.  ``framework`` as
    in :class:`Launch`; ``files`` are those with more variables.
    """

    variables: Dict[str, Value]
    kind: str
    script: Optional[str]
    arguments: Tuple[Value, ...]
    removed: Optional[FrozenSet[str]] = frozenset()
    framework: Optional[str] = None
    files: Tuple[Value, ...] = ()
    bare: bool = False


def may_start(name: str) -> bool:
    """False for the name of a command that certainly starts no training."""
    name = name.rsplit("/", 1)[-1] if name.startswith("/") else name
    return name in _STARTING or name.endswith(".sh") or _PYTHON.match(name) is not None


def started(words: Sequence[Value]) -> Optional[Started]:
    """What a command starts; None for commands that start no training."""
    variables: Dict[str, Value] = {}
    removed: Optional[FrozenSet[str]] = frozenset()
    bare = False
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
                rest = [name, *_split_string(rest[1:])]
                removed = _removed(rest[1:], removed)
                bare = bare or not _BARE.isdisjoint(rest[1:2])
            rest = _after_options(rest[1:], _WRAPPERS[name])
            while name in _TAKE_VARIABLES and rest:
                word = rest[0]
                match = None if word is UNKNOWN else _ASSIGNMENT.match(word)
                if match is not None:
                    value = match.string[match.end() :]
                    variables[match.group(1)] = UNKNOWN if UNKNOWN_PART in value else value
                elif word is not UNKNOWN or not _starts_behind(rest):
                    break
                rest = rest[1:]
        else:
            break
    found = _what(variables, rest)
    if found is None and variables:
        found = Started(variables, "program", None, ())
    if found is None or removed == frozenset():
        return found
    return found._replace(removed=removed, bare=bare)


def _starts_behind(words: Sequence[Value]) -> bool:
    """Whether an unknown word before others is one of the variables: a program is behind it."""
    known = (word for word in words if word is not UNKNOWN and _ASSIGNMENT.match(word) is None)
    return may_start(next(known, ""))


def _split_string(words: Sequence[Value]) -> List[Value]:
    """The words of ``env``, with those that ``-S`` makes of one."""
    for number, word in enumerate(words):
        if word is UNKNOWN or not word.startswith("-"):
            break
        if word.startswith(("-S", "--split-string")):
            text = word[2:] if word[:2] == "-S" else word.partition("=")[2]
            taken = number + (1 if text else 2)
            given = text or (words[number + 1] if number + 1 < len(words) else UNKNOWN)
            split = [] if given is UNKNOWN else given.split()
            return [*words[:number], *split, *words[taken:]]
    return list(words)


def _removed(words: Sequence[Value], before: Optional[FrozenSet[str]]) -> Optional[FrozenSet[str]]:
    """The variables that ``env`` takes away; None for all of them."""
    rest, removed = list(words), before
    while removed is not None and rest:
        option = rest.pop(0)
        if option is UNKNOWN or not option.startswith("-"):
            break
        if option in _BARE:
            removed = None
        elif option == "-u" and rest:
            name = rest.pop(0)
            removed = None if name is UNKNOWN else removed | {name}
        elif option.startswith(("-u", "--unset=")):
            removed = removed | {option.partition("=")[2] or option[2:]}
    return removed


def _is_looked_up(name: str) -> bool:
    """True for a script that bash looks for along PATH only: what it does is not known."""
    return name.endswith(".sh") and "/" not in name


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
        if not after or "-s" in rest[1:2]:
            return Started(variables, "shell", "-", tuple(after))
        if after[0] is not UNKNOWN:
            return Started(variables, "shell", after[0], tuple(after[1:]))
        return None
    if name.endswith(".sh") and not _is_looked_up(name):
        return Started(variables, "shell", name, tuple(rest[1:]))
    if name in _STARTERS:
        given, keeps, files = carried(name, rest[1:])
        found = _starter({**variables, **given}, name, rest[1:], _STARTERS[name])
        return found._replace(files=files) if keeps else found._replace(removed=None)
    if name in _REMOTE:
        return _remote(_after_options(rest[1:], _REMOTE[name]), name != "ssh")
    return _inside(variables, name, rest[1:])


def _remote(words: Sequence[Value], named_hosts: bool) -> Started:
    """What another machine is to run; it is given none of the variables."""
    rest = list(words) if named_hosts else list(words[1:])
    while rest and rest[0] is UNKNOWN:
        rest.pop(0)
    if not rest:
        return Started({}, "shell" if words else "text", "-" if words else None, (), None)
    known = [word for word in rest if word is not UNKNOWN]
    text = " ".join(known) if len(known) == len(rest) else None
    return Started({}, "text", text, (UNKNOWN,), None)


def _inside(variables: Dict[str, Value], name: str, words: Sequence[Value]) -> Optional[Started]:
    """What a command starts that stands among its words, or is a text of them."""
    given, keeps, files = carried(name, words)
    words = _filled_in(name, words)
    removed: Optional[FrozenSet[str]] = frozenset() if keeps else None
    removed = None if name in _NEW_ENVIRONMENT else removed
    together = {**variables, **given}
    options = _TEXT_OPTIONS.get(name, ())
    for number, word in enumerate(words):
        if word is UNKNOWN:
            continue
        option, equals, text = word.partition("=")
        if option in options and (equals or number + 1 < len(words)):
            found = _text(together, [text] if equals else words[number + 1 : number + 2])
            return found and found._replace(removed=removed, files=files)
        if name in _TEXT_WORDS and _ASSIGNS_OR_STARTS.search(word) and " " in word:
            return Started(together, "text", word, (UNKNOWN,), removed, None, files)
    if name not in _INSTALLERS:
        for number, word in enumerate(words):
            if word is not UNKNOWN and may_start(word) and not _is_looked_up(word):
                found = started(words[number:])
                if found is not None and (found.script is not None or found.variables):
                    return found._replace(
                        variables={**together, **found.variables},
                        removed=removed if found.removed == frozenset() else found.removed,
                        files=(*files, *found.files),
                    )
                if not (_PYTHON.match(word) or word in _SHELLS or word in _STARTERS):
                    break  # all words behind it have been looked at
    if name in _READ_JOBS and all(word is UNKNOWN or word.startswith("-") for word in words):
        return Started(together, "shell", "-", (), removed, None, files)
    if given or files:
        return Started(together, "program", None, (), removed, None, files)
    return None


def _filled_in(name: str, words: Sequence[Value]) -> List[Value]:
    """The words of ``xargs`` and ``parallel``, with what they replace not known."""
    place = "{}" if name == "parallel" else ""
    for number, word in enumerate(words if name == "xargs" else ()):
        if word is not UNKNOWN and word.startswith("-I"):
            following = words[number + 1] if number + 1 < len(words) else UNKNOWN
            place = word[2:] or ("" if following is UNKNOWN else following)
            break
    filled: List[Value] = []
    for word in words:
        if place and word is not UNKNOWN and place in word:
            keeps_rest = " " in word or _ASSIGNMENT.match(word) is not None
            filled.append(word.replace(place, UNKNOWN_PART) if keeps_rest else UNKNOWN)
        else:
            filled.append(word)
    return filled


def carried(name: str, words: Sequence[Value]) -> Tuple[Dict[str, Value], bool, Tuple[Value, ...]]:
    """The variables that the options of a command give, whether others pass, and their files."""
    carrier = _CARRIERS.get(name)
    if carrier is None:
        return {}, True, ()
    given: Dict[str, Value] = {}
    files: List[Value] = []
    keeps = carrier.keeps
    rest = list(words)
    told: Value
    while rest:
        word = rest.pop(0)
        if word is UNKNOWN or not word.startswith("-"):
            if word is not UNKNOWN and may_start(word) and word != "exec":  # docker exec -e A=1
                break
            continue
        option, equals, value = word.partition("=")
        if option in carrier.apart:
            told = rest.pop(0) if rest else UNKNOWN
            if told is not UNKNOWN and rest:
                given[told] = rest.pop(0)
            continue
        short = next((each for each in carrier.one if len(each) == 2 and word != each), "")
        if short and word.startswith(short) and _ASSIGNMENT.match(word[2:]):
            option, equals, value = short, "=", word[2:]
        if option not in (*carrier.one, *carrier.several, *carrier.files):
            continue
        told = value if equals else rest.pop(0) if rest else UNKNOWN
        if option in carrier.files:
            files.append(told)
            continue
        if told is UNKNOWN:
            continue
        named = told.strip("\"'").split(",") if option in carrier.several else [told]
        if carrier is _SLURM:
            keeps = keeps and "ALL" in named
        for each in named:
            match = _ASSIGNMENT.match(each.strip())
            if match is not None:
                given[match.group(1)] = each.strip()[match.end() :]
            elif option in carrier.one and NAME.match(each):
                given[each] = UNKNOWN
    return given, keeps, tuple(files)


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


def is_elsewhere(text: str) -> bool:
    """Whether a command names what runs others on another machine or in a container."""
    return not _ELSEWHERE.isdisjoint(_PROGRAM.findall(text))


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
            text = rest[0] if rest else UNKNOWN
            return None if text is UNKNOWN else Started(variables, "python-text", text, ())
        if option in STDIN:
            rest = []
        elif option in ("-W", "-X") and rest:
            rest.pop(0)
    if not rest or rest[0] in STDIN:
        return Started(variables, "python-text", None, ())
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
