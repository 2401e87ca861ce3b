"""Pictures: MNIST, CIFAR-10, folders of files, COCO and VOC with annotations."""

import gzip
import json
import pickle
import struct
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from tools.synthetic.fields import parse, value

_CLASSES = 10


def mnist(
    path: Path, random: np.random.RandomState, train: str = "6000", test: str = "512"
) -> None:
    """The four gzip files of MNIST: train=6000 test=512."""
    path.mkdir(exist_ok=True)
    for stem, count in (("train", int(train)), ("t10k", int(test))):
        labels = random.randint(0, _CLASSES, count).astype(np.uint8)
        pixels = _patterns(random, labels, (28, 28))
        heads = struct.pack(">4I", 0x803, count, 28, 28), struct.pack(">2I", 0x801, count)
        _gzip(path / (stem + "-images-idx3-ubyte.gz"), heads[0] + pixels.tobytes())
        _gzip(path / (stem + "-labels-idx1-ubyte.gz"), heads[1] + labels.tobytes())


def _gzip(path: Path, data: bytes) -> None:
    with path.open("wb") as stream, gzip.GzipFile("", "wb", 1, stream, mtime=0) as packed:
        packed.write(data)


def _patterns(
    random: np.random.RandomState, labels: np.ndarray, shape: Tuple[int, ...]
) -> np.ndarray:
    """Pictures that tell their label: a grey value for each class, with noise."""
    grey = (labels.astype(np.int64) * 20).reshape(-1, *(1 for _ in shape))
    return (grey + random.randint(0, 60, (len(labels), *shape))).astype(np.uint8)


def cifar10(path: Path, random: np.random.RandomState, batch: str = "200") -> None:
    """cifar-10-batches-py, the pickled batches: batch=200 pictures in each."""
    path.mkdir(exist_ok=True)
    for name in (*("data_batch_{}".format(number) for number in range(1, 6)), "test_batch"):
        labels = random.randint(0, _CLASSES, int(batch)).astype(np.uint8)
        data = _patterns(random, labels, (3072,))
        content = {b"data": data, b"labels": [int(each) for each in labels]}
        content[b"batch_label"] = name.encode()
        content[b"filenames"] = ["{}.png".format(row).encode() for row in range(int(batch))]
        _pickle(path / name, content)
    names = ["class{}".format(number).encode() for number in range(_CLASSES)]
    _pickle(path / "batches.meta", {b"label_names": names, b"num_vis": 3072})


def _pickle(path: Path, content: Dict[bytes, Any]) -> None:
    with path.open("wb") as stream:
        pickle.dump(content, stream, 2)


def cifar10_binary(path: Path, random: np.random.RandomState, batch: str = "200") -> None:
    """cifar-10-batches-bin, the binary batches: batch=200 pictures in each."""
    path.mkdir(exist_ok=True)
    for name in (*("data_batch_{}".format(number) for number in range(1, 6)), "test_batch"):
        labels = random.randint(0, _CLASSES, int(batch)).astype(np.uint8)
        rows = np.concatenate([labels[:, None], _patterns(random, labels, (3072,))], 1)
        (path / (name + ".bin")).write_bytes(rows.tobytes())


def images(
    path: Path,
    random: np.random.RandomState,
    picture: str = "jpeg@64,64,3",
    count: str = "8",
    name: str = "{:04d}.jpg",
    classes: str = "",
) -> None:
    """A folder of pictures: picture=FIELD count=8 name={:04d}.jpg classes=a,b (a folder each)."""
    field = parse(picture)
    for each in classes.split(","):
        folder = path / each if each else path
        folder.mkdir(parents=True, exist_ok=True)
        for row in range(int(count)):
            (folder / name.format(row)).write_bytes(value(field, random, row))


def _boxes(random: np.random.RandomState, size: int) -> List[Tuple[int, int, int, int]]:
    """Up to three boxes: left, top, width, height."""
    found = []
    for _ in range(random.randint(1, 4)):
        left, top = (int(each) for each in random.randint(0, size // 2, 2))
        width, height = (int(each) for each in random.randint(size // 8, size // 2, 2))
        found.append((left, top, width, height))
    return found


def coco(
    path: Path,
    random: np.random.RandomState,
    count: str = "8",
    size: str = "128",
    year: str = "2017",
) -> None:
    """train, val and annotations as in COCO: count=8 size=128 year=2017."""
    (path / "annotations").mkdir(parents=True, exist_ok=True)
    categories = [{"id": number, "name": "class{}".format(number)} for number in range(1, 91)]
    for part in ("train", "val"):
        images(path / (part + year), random, "jpeg@{0},{0},3".format(size), count, "{:012d}.jpg")
        pictures: List[Dict[str, Any]] = []
        annotations: List[Dict[str, Any]] = []
        for row in range(int(count)):
            name = "{:012d}.jpg".format(row)
            pictures.append(
                {"id": row, "file_name": name, "height": int(size), "width": int(size)}
            )
            for box in _boxes(random, int(size)):
                annotations.append(_annotation(len(annotations) + 1, row, box, random))
        content = {"images": pictures, "annotations": annotations, "categories": categories}
        file = path / "annotations" / "instances_{}{}.json".format(part, year)
        file.write_text(json.dumps(content), encoding="utf-8")


def _annotation(
    number: int, image: int, box: Tuple[int, int, int, int], random: np.random.RandomState
) -> Dict[str, Any]:
    left, top, width, height = box
    right, bottom = left + width, top + height
    return {
        "id": number,
        "image_id": image,
        "category_id": int(random.randint(1, 91)),
        "bbox": list(box),
        "area": width * height,
        "iscrowd": 0,
        "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
    }


_VOC = """\
<annotation><filename>{name}.jpg</filename>
<size><width>{size}</width><height>{size}</height><depth>3</depth></size>
{objects}</annotation>
"""
_OBJECT = """\
<object><name>{name}</name><difficult>0</difficult><truncated>0</truncated>
<bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>
"""


def voc(
    path: Path,
    random: np.random.RandomState,
    count: str = "8",
    size: str = "128",
    classes: str = "person,car",
) -> None:
    """JPEGImages, Annotations, SegmentationClass and ImageSets: count=8 size=128 classes=a,b."""
    names = classes.split(",")
    images(path / "JPEGImages", random, "jpeg@{0},{0},3".format(size), count)
    images(path / "SegmentationClass", random, "png:21@{0},{0}".format(size), count, "{:04d}.png")
    (path / "Annotations").mkdir(exist_ok=True)
    stems = ["{:04d}".format(row) for row in range(int(count))]
    for stem in stems:
        objects = ""
        for left, top, width, height in _boxes(random, int(size)):
            chosen = names[random.randint(len(names))]
            objects += _OBJECT.format(left + 1, top + 1, left + width, top + height, name=chosen)
        text = _VOC.format(name=stem, size=size, objects=objects)
        (path / "Annotations" / (stem + ".xml")).write_text(text, encoding="utf-8")
    for folder in ("Main", "Segmentation"):
        (path / "ImageSets" / folder).mkdir(parents=True, exist_ok=True)
        for part in ("train", "val", "trainval", "test"):
            file = path / "ImageSets" / folder / (part + ".txt")
            file.write_text("\n".join(stems) + "\n", encoding="utf-8")
