"""What is in a folder of dumps: the files by run, device, model and step.

Only names are looked at here, so a tree of any size is listed quickly; :meth:`DumpFile.open`
reads one header.
"""

import os
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, overload

import attr

from npu_config.core.arguments import path_name
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import PathLike, reading
from npu_config.core.message import phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.container import Opened, open_dump
from npu_config.dumps.names import MAPPING, FileName, Folder, is_hash, parse_folder, parse_name
from npu_config.text.loading import unreadable

_LARGEST_MAPPING = 1 << 28


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DumpFile:
    """One file of a dump.

    Args:
        path: where it is.
        size: in bytes.
        folder: run, device, model and step; what the path does not say is None.
        name: what its name says; for a file named by a hash, what ``mapping.csv`` says.
        hashed: True when the real name was too long, and the file is called by a hash of it.
    """

    path: str
    size: int
    folder: Folder
    name: FileName
    hashed: bool = False

    @property
    def run(self) -> Optional[str]:
        """Start of the process, ``YYYYMMDDHHMMSS``."""
        return self.folder.run

    @property
    def device(self) -> Optional[int]:
        """Number of the device."""
        return self.folder.device

    @property
    def model(self) -> Optional[str]:
        """Name of the graph."""
        return self.folder.model

    @property
    def step(self) -> Optional[int]:
        """The iteration, counted over all runs of the session."""
        return self.folder.step

    @property
    def op_type(self) -> str:
        """The operator type, e.g. ``"Conv2D"``."""
        return self.name.op_type

    @property
    def op_name(self) -> str:
        """The operator as the file name has it, with ``_`` for ``/``."""
        return self.name.name

    @property
    def kind(self) -> str:
        """``"tensor"``, ``"statistics"`` or ``"overflow"``."""
        if self.name.is_statistics:
            return "statistics"
        return "overflow" if self.name.is_overflow else "tensor"

    @property
    def order(self) -> Tuple[str, int, str, int, int, int, str]:
        """The key that sorts files by run, device, model, step and time."""
        where = self.folder
        return (
            where.run or "",
            -1 if where.device is None else where.device,
            where.model or "",
            -1 if where.model_id is None else where.model_id,
            -1 if where.step is None else where.step,
            self.name.time,
            self.path,
        )

    def open(self) -> Opened:
        """The header of the file; see :func:`~npu_config.dumps.container.open_dump`."""
        return open_dump(self.path)


class Stray(NamedTuple):
    """A file in the tree that is not a dump, with the reason."""

    path: str
    reason: str


class DumpTree(Sequence[DumpFile]):
    """The files of a dump, ordered by run, device, model, step and time."""

    def __init__(
        self,
        files: Sequence[DumpFile],
        strays: Sequence[Stray] = (),
        missing: Sequence[str] = (),
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        """Keep what was found.

        Args:
            files: in any order.
            strays: files that are not dumps.
            missing: real names of files that a ``mapping.csv`` has and the folder has not.
            diagnostics: folders that could not be read.
        """
        self._files = tuple(sorted(files, key=lambda file: file.order))
        self.strays = tuple(strays)
        self.missing = tuple(missing)
        self.diagnostics = tuple(diagnostics)

    @overload
    def __getitem__(self, index: int) -> DumpFile: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[DumpFile]: ...

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._files[index]

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[DumpFile]:
        return iter(self._files)

    def __repr__(self) -> str:
        return phrase("<DumpTree: {:,} files>", len(self))

    @property
    def runs(self) -> Tuple[str, ...]:
        """The runs, oldest first."""
        return tuple(sorted({file.run for file in self if file.run is not None}))

    @property
    def devices(self) -> Tuple[int, ...]:
        """The numbers of the devices."""
        return tuple(sorted({file.device for file in self if file.device is not None}))

    @property
    def models(self) -> Tuple[str, ...]:
        """The names of the graphs."""
        return tuple(sorted({file.model for file in self if file.model is not None}))

    @property
    def steps(self) -> Tuple[int, ...]:
        """The iterations."""
        return tuple(sorted({file.step for file in self if file.step is not None}))

    def only(self, files: Sequence[DumpFile]) -> "DumpTree":
        """The same tree with some of its files."""
        return DumpTree(files, self.strays, self.missing, self.diagnostics)


def find_dumps(path: PathLike) -> DumpTree:
    """Find the dump files below a folder.

    Args:
        path: the ``dump_path``, any folder in it, or one file.

    Returns:
        The files by name; no header is read.

    Raises:
        NpuConfigError: the path cannot be read.
    """
    root = path_name(path)
    files: List[DumpFile] = []
    strays: List[Stray] = []
    missing: List[str] = []
    found: List[Diagnostic] = []
    if not os.path.isdir(root):
        try:
            size = os.stat(root).st_size
        except (OSError, ValueError) as error:
            raise NpuConfigError([unreadable(root, error)]) from None
        folder, name = os.path.split(os.path.abspath(root))
        entries = [(name, root, size)]
        _enter(folder, entries, files, strays, [])
        return DumpTree(files, strays)
    pending = [root]
    while pending:
        folder = pending.pop()
        entries = []
        try:
            with os.scandir(folder) as listed:
                for entry in listed:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.is_file():
                        entries.append((entry.name, entry.path, _size(entry)))
        except OSError as error:
            found.append(unreadable(folder, error))
            continue
        _enter(os.path.abspath(folder), entries, files, strays, missing)
    if found and not files and not strays:
        raise NpuConfigError(found)
    return DumpTree(files, strays, missing, found)


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return 0


def _enter(
    folder: str,
    entries: List[Tuple[str, str, int]],
    files: List[DumpFile],
    strays: List[Stray],
    missing: List[str],
) -> None:
    """Sort the files of one folder."""
    where = parse_folder(folder.split(os.sep))
    names = {name: path for name, path, _ in entries}
    mapped: Dict[str, str] = {}
    mapping = names.get(MAPPING, os.path.join(folder, MAPPING))
    if MAPPING in names or (len(entries) == 1 and is_hash(entries[0][0])):
        mapped = _mapping(mapping)
    for name, path, size in entries:
        if name == MAPPING:
            continue
        real = mapped.get(name, name)
        parsed = parse_name(real)
        if parsed is not None:
            files.append(DumpFile(path, size, where, parsed, name in mapped))
        elif is_hash(name):
            strays.append(Stray(path, phrase("named by a hash that no {} explains", MAPPING)))
        else:
            strays.append(Stray(path, "not the name of a dump"))
    missing.extend(
        os.path.join(folder, real)
        for name, real in mapped.items()
        if name not in names and MAPPING in names
    )


def _mapping(path: str) -> Dict[str, str]:
    """Hash to real name, of a ``mapping.csv``; lines that are cut are left out."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=reading) as stream:
            text = stream.read(_LARGEST_MAPPING)
    except OSError:
        return {}
    pairs = (line.partition(",") for line in text.splitlines())
    return {name.strip(): real.strip() for name, comma, real in pairs if comma and real.strip()}


def no_dump(tree: DumpTree, path: str) -> Diagnostic:
    """What is said of a folder without a dump."""
    names = [os.path.basename(stray.path) for stray in tree.strays]
    arrays = sum(name.endswith(".npy") for name in names)
    if arrays:
        message = "no dump of the NPU here, but {:,} .npy files, which are a reference"
        help_ = "in a comparison the dump of the NPU comes first, the reference second"
        return rules.no_dump_found.diagnostic(phrase(message, arrays), Place(path), help=help_)
    if names:
        message = "no dump of the NPU here; files with other names: {:,}, the first is {}"
        text = phrase(message, len(names), names[0])
    else:
        text = "no dump of the NPU here: the folder has no files"
    help_ = (
        "give the dump_path of the job, or a folder in it; without an overflow, overflow "
        "detection leaves nothing"
    )
    return rules.no_dump_found.diagnostic(text, Place(path), help=help_)
