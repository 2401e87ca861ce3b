"""Synthetic data sets: each kind is what a plain reader of its format expects, and repeatable."""

import csv
import gzip
import hashlib
import json
import pickle
import struct
import subprocess
import sys
import wave
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
tfrecord = pytest.importorskip("tools.synthetic.tfrecord")
kinds = pytest.importorskip("tools.synthetic.kinds")

ROOT = Path(__file__).parents[2]
make = kinds.make
SMALL = {
    "cifar10": ["batch=2"],
    "cifar10-binary": ["batch=2"],
    "coco": ["count=1", "size=16"],
    "images": ["count=1", "picture=png@8,8,3"],
    "mnist": ["train=2", "test=2"],
    "voc": ["count=1", "size=16"],
    "h5": ["x=float@2"],
    "mat": ["x=float@2"],
    "npz": ["x=float@2"],
    "pickle": ["x=float@2"],
    "tfrecord": ["count=2", "x=float@2"],
    "csv": ["a=int:3"],
    "lines": ["each={a}", "a=int:9@2"],
}
NEEDS = {"coco": "PIL", "images": "PIL", "voc": "PIL", "h5": "h5py", "mat": "scipy"}


def content(path):
    """The names and bytes of a file, or of the files in a folder."""
    files = (
        [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    )
    return [(each.name, hashlib.sha256(each.read_bytes()).hexdigest()) for each in files]


@pytest.mark.parametrize("kind", sorted(kinds.KINDS))
def test_every_kind_is_repeatable(tmp_path, kind):
    """The same seed gives the same bytes; every kind has its line in the help."""
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    values = SMALL.get(kind, [])
    for name in ("one", "two"):
        make(kind, tmp_path / name / "data", values)
    first, second = content(tmp_path / "one"), content(tmp_path / "two")
    if kind == "h5":  # holds the time
        first, second = [name for name, _ in first], [name for name, _ in second]
    assert first == second
    assert (kinds.KINDS[kind].__doc__ or "").strip()


def test_another_seed_gives_other_values(tmp_path):
    """Two seeds, two arrays."""
    made = []
    for seed in (0, 1):
        make("npy", tmp_path / "x.npy", ["array=float@4"], seed)
        made.append(np.load(str(tmp_path / "x.npy")).tolist())
    assert made[0] != made[1]


def test_mnist(tmp_path):
    """idx files in gzip: magic numbers, counts, sizes."""
    make("mnist", tmp_path / "m", ["train=5", "test=2"])
    pixels = gzip.decompress((tmp_path / "m" / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((tmp_path / "m" / "t10k-labels-idx1-ubyte.gz").read_bytes())
    assert struct.unpack(">4I", pixels[:16]) == (0x803, 5, 28, 28)
    assert len(pixels) - 16 == 5 * 28 * 28
    assert struct.unpack(">2I", labels[:8]) == (0x801, 2)


def test_cifar10(tmp_path):
    """Pickled batches with data and labels; binary batches of 3,073 bytes a picture."""
    make("cifar10", tmp_path / "py", ["batch=3"])
    make("cifar10-binary", tmp_path / "bin", ["batch=3"])
    with (tmp_path / "py" / "data_batch_1").open("rb") as stream:
        batch = pickle.load(stream, encoding="bytes")
    assert batch[b"data"].shape == (3, 3072)
    assert len(batch[b"labels"]) == 3
    assert (tmp_path / "bin" / "test_batch.bin").stat().st_size == 3 * 3073


def test_tfrecord(tmp_path):
    """Examples with numbers, texts and bytes come back; a broken checksum is found."""
    path = tmp_path / "x.tfrecord"
    make("tfrecord", path, ["count=2", "a=int:7@3", "b=float@2", "c=const:yes", "d=raw@4"])
    first, _ = [tfrecord.features(record) for record in tfrecord.read(path)]
    assert [len(first[name]) for name in "abcd"] == [3, 2, 1, 1]
    assert first["c"] == [b"yes"]
    assert all(0 <= number < 7 for number in first["a"])
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(ValueError, match="checksum"):
        list(tfrecord.read(path))


def test_the_checksum_is_that_of_tensorflow():
    """The known value of CRC-32C, and negative numbers as int64."""
    assert tfrecord.crc32c(b"123456789") == 0xE3069283
    assert tfrecord.features(tfrecord.example({"x": [-1, 5]}))["x"] == [-1, 5]


@pytest.mark.tensorflow
def test_tensorflow_reads_the_records(tmp_path):
    """TensorFlow's own reader and parser give the same values."""
    tf = pytest.importorskip("tensorflow").compat.v1
    make("tfrecord", tmp_path / "x", ["count=2", "a=int:7@3", "b=float@2", "c=text:2"])
    ours = [tfrecord.features(record) for record in tfrecord.read(tmp_path / "x")]
    for record, expected in zip(tf.io.tf_record_iterator(str(tmp_path / "x")), ours):
        theirs = tf.train.Example.FromString(record).features.feature
        assert expected["a"] == list(theirs["a"].int64_list.value)
        assert expected["b"] == list(theirs["b"].float_list.value)
        assert expected["c"] == list(theirs["c"].bytes_list.value)


def test_tables(tmp_path):
    """CSV with a series of columns; LibSVM rows."""
    make("csv", tmp_path / "x", ["rows=3", "sep=\\t", "y=int:2", "I1-3=float", "C1-2=hash:4"])
    with (tmp_path / "x").open(newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    assert rows[0] == ["y", "I1", "I2", "I3", "C1", "C2"]
    assert [len(rows), len(rows[3])] == [4, 6]
    make("libsvm", tmp_path / "s", ["rows=2", "fields=3"])
    label, *pairs = (tmp_path / "s").read_text().splitlines()[0].split()
    assert label in "01"
    assert len(pairs) == 3


def test_texts(tmp_path):
    """Lines of a form, a vocabulary with its own first words, SQuAD answers in their context."""
    make("lines", tmp_path / "l", ["count=2", "each={n}\\t{w}", "n=row", "w=const:a b"])
    assert (tmp_path / "l").read_text().splitlines() == ["0\ta b", "1\ta b"]
    make("vocabulary", tmp_path / "v", ["first=[PAD],[UNK]"])
    assert (tmp_path / "v").read_text().splitlines()[:2] == ["[PAD]", "[UNK]"]
    make("squad", tmp_path / "q", ["count=2"])
    squad = json.loads((tmp_path / "q").read_text())
    for paragraph in squad["data"][0]["paragraphs"]:
        (answer,) = paragraph["qas"][0]["answers"]
        start = answer["answer_start"]
        assert answer["text"] == paragraph["context"][start : start + len(answer["text"])]


def test_pictures(tmp_path):
    """Files in their format; annotations name files that are there."""
    image = pytest.importorskip("PIL.Image")
    make("images", tmp_path / "i", ["count=2", "classes=a,b", "picture=jpeg@8,12,3"])
    assert len(list((tmp_path / "i").rglob("*.jpg"))) == 4
    with image.open(str(tmp_path / "i" / "a" / "0000.jpg")) as opened:
        assert (opened.format, opened.size) == ("JPEG", (12, 8))
    make("coco", tmp_path / "c", ["count=2", "size=16"])
    text = (tmp_path / "c" / "annotations" / "instances_val2017.json").read_text()
    named = {each["file_name"] for each in json.loads(text)["images"]}
    assert named == {each.name for each in (tmp_path / "c" / "val2017").iterdir()}
    make("voc", tmp_path / "v", ["count=1", "size=16"])
    found = ElementTree.parse(str(tmp_path / "v" / "Annotations" / "0000.xml"))
    assert found.findall("object")


def test_sound(tmp_path):
    """A WAV file of the length and rate asked for."""
    make("wav", tmp_path / "x.wav", ["seconds=0.5", "rate=8000"])
    with wave.open(str(tmp_path / "x.wav")) as stream:
        assert (stream.getnframes(), stream.getframerate()) == (4000, 8000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "x"], "invalid choice"),
        (["mnist", "x", "size=3"], "takes no size"),
        (["mnist", "x", "size"], "is not name=value"),
        (["npy", "x", "array=complex@3"], "is no field"),
    ],
)
def test_a_wrong_call_says_what_is_right(tmp_path, arguments, message):
    """The command ends with 2 and one message."""
    command = [sys.executable, "-m", "tools.synthetic", *arguments]
    done = subprocess.run(command, capture_output=True, cwd=str(ROOT))
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert not (ROOT / "x").exists()
