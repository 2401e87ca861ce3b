"""Arrays and records: npy, npz, pickle, mat, h5, TFRecord, wav."""

import pickle
import wave
from pathlib import Path
from typing import Any, Dict

import numpy as np

from tools.synthetic import tfrecord as records
from tools.synthetic.fields import parse, value


def _array(words: str, random: np.random.RandomState) -> Any:
    field = parse(words)
    types = {"float": np.float32, "int": np.int64}
    made = value(field, random, 0)
    return np.asarray(made, types[field.kind]) if field.kind in types else made


def npy(path: Path, random: np.random.RandomState, array: str = "float@8,8") -> None:
    """One array: array=FIELD."""
    np.save(str(path), _array(array, random))


def npz(path: Path, random: np.random.RandomState, **fields: str) -> None:
    """Named arrays: NAME=FIELD ..."""
    np.savez(str(path), **{name: _array(words, random) for name, words in fields.items()})


def pickled(path: Path, random: np.random.RandomState, **fields: str) -> None:
    """A pickled dictionary of arrays: NAME=FIELD ..."""
    with path.open("wb") as stream:
        pickle.dump({name: _array(words, random) for name, words in fields.items()}, stream, 2)


def mat(path: Path, random: np.random.RandomState, **fields: str) -> None:
    """A MATLAB file with arrays: NAME=FIELD ..."""
    from scipy.io import savemat

    savemat(str(path), {name: _array(words, random) for name, words in fields.items()})


def h5(path: Path, random: np.random.RandomState, **fields: str) -> None:
    """An HDF5 file with arrays: NAME=FIELD ..."""
    import h5py

    with h5py.File(str(path), "w") as stream:
        for name, words in fields.items():
            stream[name] = _array(words, random)


def tfrecord(path: Path, random: np.random.RandomState, count: str = "16", **fields: str) -> None:
    """A TFRecord file of examples: count=16 NAME=FIELD ..."""
    parsed = {name: parse(words) for name, words in fields.items()}

    def features(row: int) -> Dict[str, Any]:
        return {name: value(field, random, row) for name, field in parsed.items()}

    records.write(path, (records.example(features(row)) for row in range(int(count))))


def wav(
    path: Path, random: np.random.RandomState, seconds: str = "1", rate: str = "16000"
) -> None:
    """A mono 16-bit WAV file: seconds=1 rate=16000."""
    samples = random.randint(-8000, 8000, int(float(seconds) * int(rate))).astype("<i2")
    with wave.open(str(path), "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(int(rate))
        stream.writeframes(samples.tobytes())
