"""The files near a script: those that it imports, and those beside and below it."""

import ast
import builtins
import contextlib
import functools
import itertools
import os
import posixpath
import re
import sys
from contextvars import ContextVar
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    Union,
)

from npu_config.core.paths import reading, walk
from npu_config.python_flow.scopes import literal_text, name_of
from npu_config.python_flow.source import of_modules
from npu_config.text.source import unsaved_content

PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
"""Where npu_config itself is."""

_MOST_FILES = 2000
_MOST_IMPORTED = 300
_LARGEST = 4 * 1024 * 1024
_LEVELS = 4
"""How far up the folder may be from which packages are imported."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]{0,9}(?:\(([^)]{0,9000})\)|\(?([^\n#]*))"
    r"|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)
_ALIAS = re.compile(r"(\*|\w+)(?:\s+as\s+(\w+))?")
_COMMENT = re.compile(r"#[^\n]*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_BINDING = re.compile(r"^([A-Za-z_]\w*)[ \t]*[-+*/]?=(?!=)([^\n#]*)", re.M)
_GLOBAL = re.compile(r"^[ \t]+global[ \t]([^\n#]*)", re.M)
_CONSTANT = re.compile(
    r"""(?:-?[.\d][\w.+-]*|(?:tf|np)\.[\w.]+|True|False|b?"[^"\\]*"|b?'[^'\\]*')\Z"""
)
_BY_NAME = re.compile(rb"\b(?:import_module|__import__|run_path|run_module|execfile|exec)\s*\(")
"""What runs a file that no import statement names."""
_IN_BY_NAME = (b"import_", b"run_", b"exec")
"""One of them is in all of that."""

_PUBLIC = """
    IPython PIL absl apex astropy attr bert cffi click cupy cv2 cython dataclasses dill
    easydict editdistance faiss future gensim google gym h5py hccl horovod imageio jieba joblib
    keras keras_applications keras_preprocessing librosa lmdb lxml matplotlib mock mpi4py
    mpl_toolkits msgpack mxnet networkx neuralgym nltk npu_bridge npu_config npu_device numba
    numpy onnx opt_einsum pandas pkg_resources portalocker prettytable psutil pycocotools pydot
    pylab pytest requests scipy seaborn sentencepiece setuptools shapely simplejson six skimage
    sklearn sklearn_crfsuite soundfile spacy sympy tabulate tensorboard tensorboardX tensorflow
    tensorflow_addons tensorflow_core tensorflow_datasets tensorflow_estimator tensorflow_hub
    tensorflow_probability tensorpack termcolor tf_slim toml torch torchvision tqdm
    transformers typing typing_extensions ujson wandb xgboost yaml zmq
"""
"""Public libraries that scripts import, and that know nothing of the NPU, and the adapter."""
_Answer = TypeVar("_Answer")
_Question = TypeVar("_Question", bound=Callable[..., Any])
_REMEMBERED = 8 * 1024 * 1024
_MOST_LISTS = 4


class _Memory:
    """What was read, while :func:`remembering`: many questions are about the same files."""

    def __init__(self) -> None:
        self.size = 0
        self.contents: Dict[str, bytes] = {}
        self.lists: Dict[str, List[str]] = {}
        self.asked: Dict[Tuple[object, ...], Any] = {}


_MEMORY: "ContextVar[Optional[_Memory]]" = ContextVar("npu_config_neighbours", default=None)


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Read every file once in the block; files are taken not to change meanwhile."""
    if _MEMORY.get() is not None:
        yield
        return
    token = _MEMORY.set(_Memory())
    try:
        yield
    finally:
        _MEMORY.reset(token)


def _memory() -> _Memory:
    return _MEMORY.get() or _Memory()


def _remembered(question: _Question) -> _Question:
    """Ask a question about files once for the same arguments, while :func:`remembering`."""

    @functools.wraps(question)
    def ask(*arguments: object) -> Any:
        known, key = _memory().asked, (question, *arguments)
        if key not in known:
            known[key] = question(*arguments)
        return known[key]

    return ask  # type: ignore[return-value]


def any_neighbour_has(path: Optional[str], words: Sequence[str]) -> bool:
    """True when another script below the directory above holds one of the words.

    Comment lines do not count.

    Args:
        path: the script.
        words: what to look for.
    """
    if path is None or not os.path.isfile(path):
        return False
    return any(has(name, words) for name in _neighbours(path))


def any_import_has(path: Optional[str], words: Sequence[str]) -> bool:
    """True when a file that a script imports, itself or through others, holds one of the words.

    Args:
        path: the script.
        words: what to look for.
    """
    return path is not None and any(has(name, words) for name in imported_files(path))


def may_import_unread(path: Optional[str], text: str) -> bool:
    """True when a script may import a file that cannot be found, itself or through others.

    What is imported is found beside, below or above the script, or is a library that everyone
    has; any other module may be a file of the project, and do anything.

    Args:
        path: the script.
        text: what is in it.
    """
    own = os.path.abspath(path or "")
    if any(_leaves_unread(own, os.path.dirname(own), text.encode("utf-8", "replace"))):
        return True
    others = imported_files(own) if path is not None else ()
    return any(any(_leaves_unread(name, os.path.dirname(own), _read(name))) for name in others)


def _leaves_unread(path: str, home: str, data: bytes) -> Iterator[bool]:
    """For each module that a file imports whether it is neither a library nor to be found."""
    yield any(part in data for part in _IN_BY_NAME) and _BY_NAME.search(data) is not None
    for module, names in _imports_of(path):
        first = module.partition(".")[0]
        files = _files_of(os.path.dirname(path), home, module, names, _added(path))
        yield first not in _libraries() and not any(files)


def is_library(name: str) -> bool:
    """True for the first name of a module that everyone has, Python's own or a public one."""
    return name in _OF_OTHERS or name in _libraries() or name in dir(builtins)


@functools.lru_cache(maxsize=None)
def _libraries() -> FrozenSet[str]:
    """The names of public libraries and of the modules of Python itself."""
    found = {*_PUBLIC.split(), *sys.builtin_module_names}
    found.update(getattr(sys, "stdlib_module_names", ()))
    home = os.path.dirname(os.__file__)
    for folder in (home, os.path.join(home, "lib-dynload")):
        found.update(name.partition(".")[0] for name in _listed(folder))
    return frozenset(found)


def any_file_has(path: str, words: Sequence[str]) -> bool:
    """True when a script holds one of the words, or a file that it imports.

    Args:
        path: the script.
        words: what to look for.
    """
    return any(has(name, words) for name in _reached(os.path.abspath(path)))


def any_importer_has(path: Optional[str], words: Sequence[str]) -> bool:
    """True when a file near a script that imports it holds one of the words.

    Args:
        path: the script.
        words: what to look for.
    """
    if path is None or not os.path.isfile(path):
        return False
    return _importer_has(os.path.abspath(path), tuple(words))


@_remembered
def _importer_has(own: str, words: Tuple[str, ...]) -> bool:
    stem = os.path.basename(own)[: -len(".py")]
    named = b"" if stem == "__init__" else os.fsencode(stem)
    return any(
        named in _read(name) and has(name, words) and own in _imported(name, os.path.dirname(name))
        for name in _neighbours(own)
    )


def has_module(path: Optional[str], name: str) -> bool:
    """True when a module of a name, which is not this package, is beside or above a script.

    Args:
        path: the script.
        name: the module, without dots.
    """
    if path is None:
        return False
    folder = os.path.dirname(os.path.abspath(path))
    found = _files_of(folder, folder, name)
    return any(not os.path.realpath(each).startswith(PACKAGE + os.sep) for each in found)


@_remembered
def imported_files(path: str) -> List[str]:
    """The files beside, below and above a script that it imports, itself or through others."""
    return list(_reached(os.path.abspath(path)))[1:]


def file_of_module(path: str, module: str) -> Optional[str]:
    """The file of a module of the program that a script imports; None where there is none.

    Args:
        path: the script.
        module: its dotted name, as an import statement of the script has it.
    """
    return _file_of(_folder_of(path), module, _added(path)) if module else None


@_remembered
def _file_of(folder: str, module: str, added: Sequence[str]) -> Optional[str]:
    """The file of a module, the same for scripts of a folder that add the same to the path."""
    return next(_files_of(folder, folder, module, (), added), None)


_ADDING = re.compile(r"^[^\n#]*\bsys\.path\.(?:insert|append)\s*(\([^\n#]*)", re.MULTILINE)


@_remembered
def _added(path: str) -> Sequence[str]:
    """The folders that a script adds to those that modules are looked for in."""
    found = []
    for match in _at_lines(_ADDING, "sys.path", text_of(path)):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.parse("f" + match.group(1).rstrip("; \t\r"), mode="eval").body
            folder = _folder(tree.args[-1], path) if isinstance(tree, ast.Call) else None
            if folder is not None:
                found.append(os.path.normpath(os.path.join(os.path.dirname(path), folder)))
    return tuple(found)


def _folder(node: ast.expr, path: str) -> Optional[str]:
    """The folder that an expression names with its own file and texts alone."""
    if isinstance(node, ast.Name):
        return os.path.abspath(path) if node.id == "__file__" else None
    if not isinstance(node, ast.Call):
        return literal_text(node)
    parts = [_folder(each, path) for each in node.args]
    known = [each for each in parts if each is not None]
    function = _BY_LAST_NAME.get(name_of(node.func))
    return function(*known) if function and known and len(known) == len(parts) else None


def above(path: str) -> str:
    """The folder that a path is in, as it is written."""
    if posixpath.basename(path) in ("", ".", ".."):
        return posixpath.join(path, "..")
    return posixpath.dirname(path) or "."


def _same(path: str, *_: str) -> str:
    return path


OF_PATHS: Dict[str, Callable[..., str]] = {
    "os.path.dirname": above,
    "os.path.join": posixpath.join,
    "os.path.abspath": _same,
    "os.path.realpath": _same,
    "os.path.normpath": _same,
    "os.path.expanduser": _same,
    "os.path.expandvars": _same,
    "os.fspath": _same,
    "os.fsdecode": _same,
    "str": _same,
}
"""What functions give for paths, as far as it matters which file is meant."""
_BY_LAST_NAME = {name.rpartition(".")[2]: function for name, function in OF_PATHS.items()}


@_remembered
def _folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


_CONFIGURES = ("parameter_map", "custom_optimizers", "NPURunConfig", "NpuConfigBuilder")
_MOST_HANDS = 4


class Definer(NamedTuple):
    """The file of the program that defines a name, and the name there."""

    file: str
    name: Tuple[str, ...]


def definer(
    path: str, name: Sequence[str], dots: str = "", hands: int = _MOST_HANDS
) -> Optional[Definer]:
    """Where a name is defined that a script imports; what a file only passes on, as packages do,
    is looked for in the file that it has it from.

    Args:
        path: the script.
        name: the dotted name, with that of the module.
        dots: those before the name, as in a relative import.
        hands: how many files may pass it on.
    """
    for count in range(len(name) - 1, -1 if dots else 0, -1):
        file = file_of_module(path, dots + ".".join(name[:count]))
        if file is None:
            continue
        rest = tuple(name[count:])
        for module, names in _imports_of(file) if hands else ():
            further, parts = _split(module)
            for original, alias in names:
                if original in (rest[0], "*") or alias == rest[0]:
                    own = rest if original == "*" else (original, *rest[1:])
                    found = definer(file, (*parts, *own), further, hands - 1)
                    if found is not None and (original != "*" or _binds(*found)):
                        return found
        return Definer(file, rest)
    return None


def _binds(file: str, name: Sequence[str]) -> bool:
    """True for a file that binds a name at its left edge."""
    pattern = r"^(?:(?:def|class)\s+{0}\b|{0}\s*=)".format(re.escape(name[0]))
    return re.search(pattern, text_of(file), re.MULTILINE) is not None


def configuring(path: Optional[str], function: Sequence[str]) -> Optional[str]:
    """The file of the program that a function is of, where that file sets options.

    Args:
        path: the script that calls it.
        function: its dotted name, with that of the module.
    """
    if path is None or len(function) < 2 or function[0] in _OF_OTHERS:
        return None
    return _configuring(path, tuple(function))


@_remembered
def _configuring(path: str, function: Tuple[str, ...]) -> Optional[str]:
    found = definer(path, function)
    files = [] if found is None else [found.file]
    if found is not None and found.name == ("",):  # the module itself, and what it passes on
        files += _imported(found.file, os.path.dirname(found.file))
    return next((file for file in files if has(file, _CONFIGURES)), None)


Imports = Sequence[Union[ast.Import, ast.ImportFrom]]


def names_of_configuring(path: Optional[str], imports: Imports) -> Set[str]:
    """The names that import statements bind to what files of the program hold that set options.

    Args:
        path: the script.
        imports: its import statements.
    """
    return {each.name for each in _bound_by(imports) if configuring(path, each.inside) is not None}


def is_unread(path: Optional[str], dotted: Sequence[str]) -> bool:
    """True for what comes from a module that is no library and is not found.

    Args:
        path: the script that imports it; nothing is said of one that is in no file.
        dotted: its dotted name, with that of the module.
    """
    if path is None or is_library(dotted[0]):
        return False
    ends = range(1, len(dotted) + 1)
    return not any(file_of_module(path, ".".join(dotted[:end])) for end in ends)


def names_of_unread(path: Optional[str], imports: Imports) -> Set[str]:
    """The names that import statements bind to what is not found; ``*`` for any name."""
    return {each.name for each in _bound_by(imports) if is_unread(path, each.inside)}


class _Bound(NamedTuple):
    """A name that an import statement binds, what it stands for, and the module with it."""

    name: str
    stands_for: str
    dotted: str

    @property
    def inside(self) -> Tuple[str, ...]:
        """The dotted name of something in it that is not named."""
        return (*self.dotted.lstrip(".").split("."), "")


def _bound_by(imports: Imports) -> Iterator[_Bound]:
    for node in imports:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                dotted = "{}.{}".format(node.module or "", alias.name)
                yield _Bound(alias.asname or alias.name, dotted, dotted)
            else:
                first = alias.name.partition(".")[0]
                stands_for = alias.name if alias.asname else first
                yield _Bound(alias.asname or first, stands_for, alias.name)


def files_named(path: str, imports: Imports, stars: Iterable[str], text: str) -> List[str]:
    """The files of the program that the names may lead to which import statements bind.

    Args:
        path: the script.
        imports: its import statements.
        stars: the modules whose names are all imported.
        text: the script, which may name what is in a package by the name of the package.
    """
    found: Dict[Optional[str], None] = {}

    def find(dotted: str) -> bool:
        dots = [number for number, sign in enumerate(dotted) if sign == "."]
        files = [file_of_module(path, dotted[:end]) for end in (*dots, len(dotted))]
        found.update(dict.fromkeys(files))
        return (files[-1] or "").endswith(_PACKAGE_FILE)

    for name, stands_for, dotted in _bound_by(imports):
        if not dotted.startswith("tensorflow.") and find(dotted):
            inside = r"{0}(?<![.\w]{0})((?:\s*\.\s*\w+)+)".format(name)
            for chain in set(re.findall(inside, text)):
                find(stands_for + re.sub(r"\s", "", chain))
    found.update((file_of_module(path, star), None) for star in stars)
    return [file for file in found if file is not None]


_PACKAGE_FILE = os.sep + "__init__.py"
_OF_OTHERS = frozenset(("", "tf", "tensorflow", "npu_bridge", "npu_config", "self"))


def text_of(path: str) -> str:
    """The text of a script near another one."""
    return _read(path).decode("utf-8", "replace")


def constant_of(path: str, name: Sequence[str]) -> Optional[ast.expr]:
    """The constant that a name of another file of the program certainly is; None for no such one.

    Args:
        path: the script.
        name: the dotted name, with that of the module.
    """
    file = file_of_module(path, ".".join(name[:-1]))
    text = None if file is None else constants_in(file).get(name[-1])
    if text is not None:
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse(text, mode="eval").body
    return None


@_remembered
def constants_in(path: str) -> Dict[str, str]:
    """The names that a file binds once, at the left edge, to a number, a text or a type.

    Args:
        path: the file.
    """
    text = text_of(path)
    found: Dict[str, List[str]] = {}
    for match in _at_lines(_BINDING, "=", text):
        found.setdefault(match.group(1), []).append(match.group(2).strip())
    lines = [match.group(1) for match in _at_lines(_GLOBAL, "global", text)]
    again = {name for line in lines for name in _NAME.findall(line)}
    return {
        name: values[0]
        for name, values in found.items()
        if len(values) == 1 and name not in again and _CONSTANT.match(values[0])
    }


def once_for(path: str, question: object, answer: Callable[[str], _Answer]) -> _Answer:
    """The answer to a question about a file, looked for once while :func:`remembering`.

    Args:
        path: the file.
        question: what is asked.
        answer: looks for the answer in a file, which holds no syntax tree: it is kept.
    """
    known, key = _memory().asked, (question, path)
    if key not in known:
        known[key] = answer(path)
    found: _Answer = known[key]
    return found


def _is_file(path: str) -> bool:
    """Whether there is a file, if only in an editor."""
    return unsaved_content(path) is not None or os.path.isfile(path)


def named_in(path: Optional[str], name: str) -> Optional[str]:
    """The file that a script names: seen from the working directory, else from its own folder
    or the nearest one above it, up to the top of the repository; None where there is none.

    Args:
        path: the script; None where it is in no file.
        name: the file, as the script names it.
    """
    try:
        name.encode()
    except UnicodeError:
        return None
    if "\0" in name:
        return None
    if _is_file(name):
        return os.path.normpath(name)
    folder = os.path.dirname(path or "")
    while path is not None and not os.path.isabs(name):
        found = os.path.normpath(os.path.join(folder, name))
        if _is_file(found):
            return found
        above = os.path.dirname(os.path.abspath(folder))
        if above == os.path.abspath(folder) or os.path.exists(os.path.join(folder, ".git")):
            break
        folder = above if os.path.isabs(folder) else os.path.relpath(above)
    return None


def framework_of(path: str) -> Optional[str]:
    """The framework that a script is for: its imports show it, or those of what it imports.

    Args:
        path: the script.
    """
    for name in _reached(os.path.abspath(path)):
        framework = of_modules(modules_in(_read(name)))
        if framework is not None:
            return framework
    return None


def modules_in(data: bytes) -> Iterator[str]:
    """The first names of the modules that the import statements of a script name."""
    return (module.partition(".")[0] for module, _ in _imports_in(data))


def _reached(own: str) -> Iterator[str]:
    """A script and the files that it imports, itself or through others, the nearest first."""
    found: List[str] = [own]
    known: Set[str] = {own}
    for name in found:
        yield name
        for other in _imported(name, os.path.dirname(own)):
            if other not in known and len(known) <= _MOST_IMPORTED:
                known.add(other)
                found.append(other)


@_remembered
def _imported(path: str, home: str) -> List[str]:
    """The files that the import statements of a file may mean."""
    folder, added = os.path.dirname(path), _added(path)
    return [file for each in _imports_of(path) for file in _files_of(folder, home, *each, added)]


class _Import(NamedTuple):
    """``from module import name as alias, ...``; ``import module`` takes no names."""

    module: str
    names: Sequence[Tuple[str, str]] = ()


@_remembered
def _imports_of(path: str) -> List[_Import]:
    return list(_imports_in(_read(path)))


def _imports_in(data: bytes) -> Iterator[_Import]:
    """The import statements of a script, the dots of relative ones with the module."""
    for match in _at_lines(_IMPORT, "import", data.decode("utf-8", "replace")):
        module, inside, line, plain = match.groups("")
        names = _ALIAS.findall(_COMMENT.sub("", inside or line))
        if module:
            yield _Import(module, [(name, alias or name) for name, alias in names])
        for each in plain.split(",") if plain else ():
            yield _Import((each.split() or [""])[0].rstrip(";"))


def _at_lines(pattern: "re.Pattern[str]", word: str, text: str) -> Iterator["re.Match[str]"]:
    """What matches at the beginning of lines that hold a word, one behind the other.

    To look for a word is far quicker than to look for a pattern at the beginning of every line.
    """
    start = text.find(word)
    while start >= 0:
        match = pattern.match(text, text.rfind("\n", 0, start) + 1)
        if match is not None:
            yield match
        end = text.find("\n", start if match is None else match.end())
        start = text.find(word, end) if end >= 0 else -1


def _split(module: str) -> Tuple[str, List[str]]:
    """The dots before the name of a module, and its parts."""
    name = module.lstrip(".")
    return module[: len(module) - len(name)], [part for part in name.split(".") if part]


def _files_of(
    folder: str,
    home: str,
    module: str,
    names: Sequence[Tuple[str, str]] = (),
    added: Sequence[str] = (),
) -> Iterator[str]:
    """The files of a module that a folder imports, and of those of the names in it that are."""
    dots, parts = _split(module)
    if parts and not (dots or added):
        near = _near(folder, home)
        if parts[0] not in near and parts[0] + ".py" not in near:
            return
    if dots:
        above = [".."] * (len(dots) - 1)
        roots: Iterable[str] = [os.path.normpath(os.path.join(folder, *above))]
    else:
        roots = [*_roots(folder, home), *added]
    for root in roots:
        if parts and _listed(root).isdisjoint((parts[0], parts[0] + ".py")):
            continue
        stem = os.path.join(root, *parts)
        found = [stem + ".py", os.path.join(stem, "__init__.py")]
        found += [os.path.join(stem, name + ".py") for name, _ in names]
        existing = [name for name in found if os.path.isfile(name)]
        if existing:
            yield from existing
            return


@_remembered
def _roots(folder: str, home: str) -> Sequence[str]:
    """The folders in which what a folder imports may be, the nearest first."""
    levels = [folder] * (_LEVELS + 1)
    above = itertools.accumulate(levels, lambda each, _: os.path.dirname(each))
    return list(dict.fromkeys([home, *above]))


@_remembered
def _near(folder: str, home: str) -> FrozenSet[str]:
    """The names of all that is in the folders in which what a folder imports may be."""
    return frozenset().union(*map(_listed, _roots(folder, home)))


@_remembered
def _listed(folder: str) -> FrozenSet[str]:
    """The names in a folder; none when it cannot be listed."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _read(path: str) -> bytes:
    memory = _memory()
    data = memory.contents.get(path)
    if data is None:
        data = unsaved_content(path)
    if data is None:
        try:
            with open(path, "rb", opener=reading) as stream:
                data = stream.read(_LARGEST)
        except OSError:
            data = b""
        memory.size += len(data)
        if memory.size > _REMEMBERED:
            memory.contents.clear()
            memory.size = len(data)
        memory.contents[path] = data
    return data


def has(path: str, words: Sequence[str]) -> bool:
    """True when a line of a file that is not a comment holds one of the words."""
    return _has(path, tuple(words))


@_remembered
def _has(path: str, words: Tuple[str, ...]) -> bool:
    data = _read(path)
    return any(says(data, word.encode()) for word in words)


def says(data: bytes, word: bytes) -> bool:
    """True when a line of a file that is not a comment holds a word."""
    start = data.find(word)
    while start >= 0:
        if not data[data.rfind(b"\n", 0, start) + 1 : start].lstrip().startswith(b"#"):
            return True
        end = data.find(b"\n", start)
        start = data.find(word, end) if end >= 0 else -1
    return False


def _neighbours(path: str) -> Iterator[str]:
    own = os.path.abspath(path)
    directory = os.path.dirname(os.path.dirname(own))
    lists = _memory().lists
    if directory not in lists:
        if len(lists) >= _MOST_LISTS:
            lists.clear()
            _memory().asked.clear()
        lists[directory] = list(_scripts_below(directory))
    return (name for name in lists[directory] if name != own)


def _scripts_below(directory: str) -> Iterator[str]:
    count = 0
    for folder, folders, names in walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        count += 1 + len(names)
        if count > _MOST_FILES:
            return
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(folder, name)
