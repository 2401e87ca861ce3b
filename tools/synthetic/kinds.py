"""The kinds of data sets: one function for each, from a path, values and a seed to files."""

import inspect
import zlib
from pathlib import Path
from typing import Callable, Dict, List, Sequence

import numpy as np

from tools.synthetic import arrays, pictures, tables, texts

KINDS: Dict[str, Callable[..., None]] = {
    "cifar10": pictures.cifar10,
    "cifar10-binary": pictures.cifar10_binary,
    "coco": pictures.coco,
    "images": pictures.images,
    "mnist": pictures.mnist,
    "voc": pictures.voc,
    "h5": arrays.h5,
    "mat": arrays.mat,
    "npy": arrays.npy,
    "npz": arrays.npz,
    "pickle": arrays.pickled,
    "tfrecord": arrays.tfrecord,
    "wav": arrays.wav,
    "csv": tables.csv,
    "libsvm": tables.libsvm,
    "bert-config": texts.bert_config,
    "folder": texts.folder,
    "lines": texts.lines,
    "squad": texts.squad,
    "vocabulary": texts.vocabulary,
}
"""Each takes the path, a source of random numbers, and its own values as words."""


def make(kind: str, path: Path, values: Sequence[str] = (), seed: int = 0) -> None:
    """Make a data set.

    Args:
        kind: one of :data:`KINDS`.
        path: the file or folder; folders above it are made.
        values: ``name=value``, as the kind takes them; fields of records likewise.
        seed: the same seed gives the same bytes.

    Raises:
        ValueError: there is no such kind, or it does not take these values.
    """
    if kind not in KINDS:
        raise ValueError("{!r} is no kind of data: {}".format(kind, ", ".join(sorted(KINDS))))
    function = KINDS[kind]
    named: Dict[str, str] = {}
    for pair in values:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError("{!r} is not name=value".format(pair))
        named[name] = value
    refused = _refused(function, named)
    if refused:
        raise ValueError("{} takes no {}".format(kind, ", ".join(refused)))
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(zlib.crc32("{} {} {}".format(seed, kind, path.name).encode()))
    function(path, random, **named)


def _refused(function: Callable[..., None], named: Dict[str, str]) -> List[str]:
    """Values that a kind without fields of its own does not take."""
    parameters = inspect.signature(function).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return []
    return [name for name in named if name not in parameters]
