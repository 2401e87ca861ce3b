"""Scripts that are not edited at all, each for one reason."""

import ast
from typing import Collection, Iterator, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.migration.script import Script
from npu_config.migration.sites import Site, imported
from npu_config.migration.work import REFUSED, Note

__all__ = ["one_reason"]


def one_reason(script: Script) -> Optional[Note]:
    """Why a whole script is not edited: Keras by itself, eager execution, TensorFlow 2."""
    line = _native_import(script)
    if line:
        return Note(
            line,
            "native-keras",
            REFUSED,
            "Keras outside of TensorFlow is not supported on the NPU: port to tf.keras first",
        )
    for site, _ in _named(script, _EAGER):
        if site.call is not None:
            return Note(site.line, "eager", REFUSED, "TensorFlow 1.15 on the NPU is graph mode")
    return _only_version_2(script)


def _named(script: Script, names: Collection[str]) -> Iterator[Tuple[Site, str]]:
    """The places of some names of TensorFlow, in order of the lines."""
    for site in script.sites_of({name.rsplit(".", 1)[1] for name in names}):
        name = script.resolved(site) or ""
        if name in names:
            yield site, name


_EAGER = (
    "tensorflow.enable_eager_execution",
    "tensorflow.enable_v2_behavior",
    "tensorflow.compat.v2.enable_v2_behavior",
    "tensorflow.contrib.eager.enable_eager_execution",
    "tensorflow.python.framework.ops.enable_eager_execution",
)
_ONLY_2 = {
    "tensorflow.GradientTape": "eager gradients",
    "tensorflow.random.set_seed": "a function of TensorFlow 2",
    "tensorflow.config.list_physical_devices": "a function of TensorFlow 2",
    "tensorflow.config.set_visible_devices": "a function of TensorFlow 2",
    "tensorflow.summary.create_file_writer": "summaries of TensorFlow 2",
    "tensorflow.function": "functions of TensorFlow 2",
}
_GRAPH_WORDS = (
    *("Session", "InteractiveSession", "MonitoredTrainingSession", "placeholder", "compat"),
    *("get_variable", "Estimator", "global_variables", "contrib", "disable_v2_behavior"),
    "disable_eager_execution",
)


def _only_version_2(script: Script) -> Optional[Note]:
    """A script that only TensorFlow 2 can run: it uses its names, and no graph."""
    if not script.words.isdisjoint(_GRAPH_WORDS):
        return None
    text = "a script for TensorFlow 2 only ({}): the NPU needs the graph mode of 1.15"
    for site, name in _named(script, _ONLY_2):
        return Note(site.line, "eager", REFUSED, phrase(text, _ONLY_2[name]))
    return None


def _native_import(script: Script) -> int:
    """The line of the first import of Keras outside of TensorFlow, 0 where there is none.

    An import that stands in for TensorFlow's where that is missing does not count.
    """
    if "keras" not in script.words:
        return 0
    for site in script.imports:
        is_own = any(name.split(".")[0] == "keras" for name in imported(site.node))
        if is_own and not site.inside(ast.ExceptHandler):
            return site.line
    return 0
