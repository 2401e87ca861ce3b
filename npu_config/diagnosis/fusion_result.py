"""fusion_result.json: which fusion passes matched and took effect, per compiled graph.

The graph engine appends an object per compilation, so one file may hold several JSON
objects one after the other; older versions write a list, or name the graph inside the
object instead of in the key.  All of these are read.
"""

import json
from typing import Any, Dict, Iterator, List, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, path_name
from npu_config.text.source import guarded, load

_KINDS = ("graph_fusion", "ub_fusion")
_LARGEST = 256 * 1024 * 1024
_MOST = 2**63 - 1
_GRAPH_KEY = "session_and_graph_id"
_WHITE = " \t\r\n,\ufeff\x00"


@declare(
    "NPU798",
    Severity.ERROR,
    source=("docs/en/tfadapter_1/apiref/session_config/debugging.md",),
    help="pass the fusion_result.json that the compiler wrote",
)
def fusion_result_unreadable() -> None:
    """A file is not a usable fusion_result.json.

    The graph engine writes one JSON object per compilation, each with the passes that
    matched (`match_times`) and took effect (`effect_times`) per graph; several
    compilations leave several objects in one file. Anything else cannot be summarised.

    Wrong: the file of a job that was killed while it wrote the file.

    Right: `{"session_and_graph_id_0_0": {"graph_fusion": {"PassA": {"match_times": "2",
    "effect_times": "2"}}}}`
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class FusionPass:
    """What one fusion pass did, over all graphs of a file.

    Args:
        name: the pass, as fusion_switch.cfg names it.
        kind: ``"graph_fusion"`` or ``"ub_fusion"``.
        match_times: how often its pattern was found.
        effect_times: how often it changed the graph.
        repository_hit_times: UB fusion only: hits in the tuning repository.
        graphs: the ``<session>_<graph>`` ids it is listed for.
    """

    name: str
    kind: str
    match_times: int
    effect_times: int
    repository_hit_times: int
    graphs: Tuple[str, ...]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class FusionResult:
    """A fusion_result.json, summed up.

    Args:
        path: the file.
        graphs: every ``<session>_<graph>`` id in it.
        passes: by kind, the most effective first.
    """

    path: str
    graphs: Tuple[str, ...]
    passes: Tuple[FusionPass, ...]

    @property
    def effective(self) -> Tuple[FusionPass, ...]:
        """The passes that changed a graph: candidates when looking for a wrong result."""
        return tuple(each for each in self.passes if each.effect_times)


def read_fusion_result(path: PathLike) -> FusionResult:
    """Read and sum up a fusion_result.json.

    Raises:
        NpuConfigError: it cannot be read, is not JSON, or holds no fusion record; for a
            syntax fault the message has the line.
    """
    name = path_name(path)
    data = load(name, _LARGEST)
    if isinstance(data, Diagnostic):
        raise _error(name, data.message)
    with guarded(name):
        return _sum_up(name, data.decode("utf-8", "replace"))


def _sum_up(name: str, text: str) -> FusionResult:
    sums: Dict[Tuple[str, str], List[Any]] = {}
    graphs: Dict[str, None] = {}
    for graph, record in _records(name, text):
        graphs[graph] = None
        for kind in _KINDS:
            passes = record.get(kind)
            if not isinstance(passes, dict):
                continue
            for title, times in passes.items():
                if not isinstance(times, dict):
                    continue
                known = sums.setdefault((kind, title), [0, 0, 0, {}])
                for index, key in enumerate(
                    ("match_times", "effect_times", "repository_hit_times")
                ):
                    known[index] += _count(times.get(key))
                known[3][graph] = None
    if not graphs:
        raise _error(name, "the file holds no fusion record", None)
    passes_ = [
        FusionPass(title, kind, matched, effected, hits, tuple(where))
        for (kind, title), (matched, effected, hits, where) in sums.items()
    ]
    passes_.sort(key=lambda each: (each.kind, -each.effect_times, -each.match_times, each.name))
    return FusionResult(name, tuple(graphs), tuple(passes_))


def _error(path: str, message: str, line: Optional[int] = None) -> NpuConfigError:
    return fusion_result_unreadable.error(message, Place(path, line))


def _records(path: str, text: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """(graph id, record) for every record of every value in the text."""
    decoder = json.JSONDecoder()
    position, seen = 0, False
    while True:
        while position < len(text) and text[position] in _WHITE:
            position += 1
        if position >= len(text):
            break
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "pos", position)
            reason = getattr(error, "msg", "nested too deeply")
            raise _error(
                path,
                phrase("this is not fusion_result.json: {}", reason[:1].lower() + reason[1:])
                if not seen
                else phrase(
                    "the record is truncated or damaged: {}", reason[:1].lower() + reason[1:]
                ),
                text.count("\n", 0, at) + 1,
            ) from None
        seen = True
        for part in value if isinstance(value, list) else [value]:
            yield from _graphs(part)
    if not seen:
        raise _error(path, "the file is empty", None)


def _graphs(value: Any) -> Iterator[Tuple[str, Dict[str, Any]]]:
    if not isinstance(value, dict):
        return
    if any(kind in value for kind in _KINDS):
        yield str(value.get(_GRAPH_KEY, "")), value
        return
    for key, record in value.items():
        if key.startswith(_GRAPH_KEY) and isinstance(record, dict):
            yield key[len(_GRAPH_KEY) :].strip("_"), record


def _count(value: Any) -> int:
    """A count, which the engine writes as text."""
    try:
        return min(max(int(value), 0), _MOST)
    except (TypeError, ValueError, OverflowError):
        return 0
