"""Packages that make sessions of their own, and those of which it is known that they make none."""

import ast
import functools
import os
import re
import sys
from typing import FrozenSet, Iterator, List, Set, Tuple

from npu_config.migration.names import CONCERNING, MAKERS
from npu_config.migration.resolve import Resolver
from npu_config.migration.work import Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import imported

__all__ = ["after", "is_data_only", "is_known", "is_of_others", "names_of", "own", "unknown"]

_NONE: FrozenSet[str] = frozenset(
    (
        *("absl", "numpy", "scipy", "pandas", "matplotlib", "PIL", "cv2", "skimage", "sklearn"),
        *("tqdm", "six", "h5py", "yaml", "requests", "imageio", "nltk", "jieba", "lxml", "mpi4py"),
        *("pycocotools", "tabulate", "termcolor", "joblib", "psutil", "seaborn", "networkx"),
        *("librosa", "soundfile", "regex", "sacrebleu", "sentencepiece", "unidecode", "inflect"),
        *("gin", "easydict", "protobuf", "google", "attr", "click", "docopt", "ujson", "dill"),
        *("cloudpickle", "numba", "gym", "pynvml", "setuptools", "pkg_resources", "pytest"),
        *("parameterized", "mock", "nose", "tensorboard", "pyarrow", "lmdb", "msgpack", "zmq"),
        *("IPython", "ipywidgets", "plotly", "bokeh", "xgboost", "lightgbm", "torch", "spacy"),
        *("gensim", "transformers", "tokenizers", "pyspark", "boto3", "redis", "flask", "grpc"),
        *("tensorflow_probability", "tensorflow_datasets", "tensorflow_transform", "sonnet"),
        *("tensorflow_text", "trfl", "tensorflow_hub", "tensorflow_addons", "kfac", "dm_env"),
        *("mpl_toolkits", "mxnet", "chainer", "theano", "paddle", "jax", "onnx", "caffe", "cntk"),
        *("future", "past", "builtins", "bs4", "pyglet", "mujoco_py", "graphviz", "pydot"),
        *("pyximport", "Cython", "humanize", "progressbar", "prettytable", "colorama", "toml"),
        *("contextlib2", "dllogger", "StringIO", "cStringIO", "torchvision", "filelock", "ray"),
        *("packaging", "gluoncv", "ipykernel", "sympy", "aiohttp", "cloud_tpu_client", "glob2"),
        *("scandir", "tensorflow_serving", "pytorch_lightning", "petastorm", "fire", "wandb"),
        *("mlflow", "tensorboardX", "munch", "addict", "ruamel", "simplejson", "editdistance"),
        *("shapely", "SimpleITK", "nibabel", "pydicom", "pretty_midi", "mido", "music21"),
        *("pyworld", "python_speech_features", "imgaug", "albumentations", "tifffile", "tables"),
        *("xlrd", "openpyxl", "pymysql", "pymongo", "sqlalchemy", "tornado", "django", "jinja2"),
        *("markdown", "snappy", "dask", "pypinyin", "opencc", "xmltodict", "comet_ml", "rouge"),
        *("semver", "sox", "resampy", "lws", "webrtcvad", "opuslib", "optuna", "xdg", "attrdict"),
        "ds_ctcdecoder",
    )
)


def after(work: Work) -> None:
    """A package that makes the session of the script."""
    for site, name in _used(work.script):
        if not _is_own(work.script, name):
            work.needs_patch(site)
            work.libraries.append(name)


def own(script: Resolver) -> Iterator[str]:
    """The packages that make sessions and that are in the project itself."""
    return (name for _, name in _used(script) if _is_own(script, name))


def _is_own(script: Resolver, name: str) -> bool:
    """True for a package that the project has, and for the one that the script is part of."""
    folder, root = script.neighbours.folder, script.neighbours.root
    inside = os.path.relpath(folder, root).split(os.sep) if folder and root else ()
    return name in inside or script.neighbours.path(name, 0) is not None


def _used(script: Resolver) -> Iterator[Tuple[Site, str]]:
    for site in script.imports:
        for dotted in names_of(site):
            top, _, rest = dotted.partition(".")
            without = MAKERS.get(top)
            if without is not None and not (rest and rest.startswith(without)):
                yield site, top
                break


def names_of(site: Site) -> Iterator[str]:
    """What an import statement imports, by dotted names."""
    for module in imported(site.node):
        if isinstance(site.node, ast.ImportFrom):
            yield from (module + "." + alias.name for alias in site.node.names)
        else:
            yield module


def unknown(script: Resolver) -> Iterator[Tuple[int, str]]:
    """The imports of packages of which it is not known whether they make sessions."""
    for site in script.imports:
        for module in imported(site.node):
            top = module.split(".")[0]
            if top and not is_known(top):
                yield site.line, module


def is_known(top: str) -> bool:
    """True for a top package of which it is known whether it makes sessions."""
    return top in _NONE or top in _standard() or top in CONCERNING


@functools.lru_cache(maxsize=None)
def _standard() -> FrozenSet[str]:
    """The modules of the standard library, those of other versions of Python included."""
    names = getattr(sys, "stdlib_module_names", None)
    if names is None:  # before Python 3.10
        folder = os.path.dirname(os.__file__)
        found = [*os.listdir(folder), *_files_in(os.path.join(folder, "lib-dynload"))]
        names = {*(name.split(".")[0] for name in found), *sys.builtin_module_names}
    return frozenset((*names, *_OTHER_VERSIONS))


def _files_in(folder: str) -> List[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


_OTHER_VERSIONS = (
    *("__future__", "ConfigParser", "cPickle", "Queue", "urllib2", "urlparse", "HTMLParser"),
    *("httplib", "commands", "copy_reg", "Tkinter", "tkMessageBox", "SocketServer", "thread"),
    *("BaseHTTPServer", "cookielib", "dummy_thread", "math", "unicodedata", "select", "array"),
    *("distutils", "imp", "asynchat", "asyncore", "smtpd", "formatter", "parser", "symbol"),
    *("binhex", "macpath", "dummy_threading", "lib2to3", "aifc", "audioop", "cgi", "cgitb"),
    *("chunk", "crypt", "imghdr", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "pipes"),
    *("sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib", "contextvars", "dataclasses"),
    *("graphlib", "zoneinfo", "tomllib"),
)


_NEUTRAL = frozenset(
    (
        *("flags", "app", "logging", "compat", "errors", "version", "VERSION", "__version__"),
        *("resource_loader", "disable_v2_behavior", "test", "nest", "gfile"),
    )
)
"""Names that a script of any kind uses."""
_DATA_ONLY = frozenset(
    (
        *_NEUTRAL,
        *("python_io", "io", "Example", "Features", "Feature", "BytesList", "FloatList"),
        *("Int64List", "SequenceExample", "FeatureList", "FeatureLists", "summary_iterator"),
        *("GraphDef", "Summary", "NewCheckpointReader", "list_variables", "load_variable"),
        *("load_checkpoint", "latest_checkpoint"),
    )
)
_OUTER = ("train", "summary", "contrib", "compat")


def is_data_only(script: Resolver) -> bool:
    """True for a script that uses files and records of TensorFlow, and no graph.

    One that uses flags alone may do anything in packages of which nothing is known.
    """
    if is_of_others(script):
        return True
    names = [
        name
        for name in script.module.stores
        if script.meaning(name, script.module).name == "tensorflow"
    ]
    used: Set[str] = set()
    for name in names:
        pattern = r"\b{}\s*\.\s*(\w+)(?:\s*\.\s*(\w+))?".format(re.escape(name))
        for first, second in re.findall(pattern, script.text):
            used.add(second if first in _OUTER else first)
    if used - _DATA_ONLY or script.stars:
        return False
    if not used - _NEUTRAL and any(unknown(script)):
        return False
    return bool(names) or not _is_of(script)


def _is_of(script: Resolver) -> bool:
    """True for a script that imports something of TensorFlow, or of what makes sessions."""
    return not _tops(script).isdisjoint(CONCERNING)


def _tops(script: Resolver) -> Set[str]:
    """The packages that a script imports."""
    return {module.split(".")[0] for site in script.imports for module in imported(site.node)}


def is_of_others(script: Resolver) -> bool:
    """True for a script of another framework, with Horovod perhaps, and not of TensorFlow."""
    tops = _tops(script)
    concerning = tops.intersection(CONCERNING) - {"horovod"}
    return not concerning and not tops.isdisjoint(("torch", "mxnet", "pytorch_lightning"))
