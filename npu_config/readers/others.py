"""Files of other kinds, by their content: what they are, and which command takes them."""

import os
import re
from typing import NamedTuple, Optional

from npu_config.core.message import phrase
from npu_config.text.wire import BYTES, VARINT, WireError, fields

_TOP = 65536
NOTEBOOK = ".ipynb"

_GRAPH_TEXT = re.compile(
    r"(?:node|meta_info_def|graph_def|saver_def|library) {0,8}:? {0,8}[{<]|saved_model_"
)
_FUSION_RESULT = re.compile(r'"(?:session_and_graph_id\w{0,40}|match_times|effect_times)" *:')
_ACL = re.compile(
    r'"(?:dump_(?:list|op_switch|debug|scene|stats|level)|aicore_metrics|err_msg_mode)" *:'
)
_ACL_BLOCK = re.compile(r'"(?:dump|profiler)" *: *\{')
_LOSS = re.compile(r"loss[ _]scal|global_step|step ?[=:] ?\d", re.IGNORECASE)
_MANIFEST = (
    re.compile(r"^apiVersion: {0,8}\S", re.MULTILINE),
    re.compile(r"^kind: {0,8}\S", re.MULTILINE),
)
_PLACEHOLDER = re.compile(
    r"\$\{\w{1,60}\}|\{\{ ?[\w.]{1,60} ?\}\}|\{[A-Za-z_]\w{0,60}\}|%\(\w{1,60}\)s|<%= ?\w{1,60}"
)


class Other(NamedTuple):
    """``what`` a file is, and what to do with it; ``is_mistake`` where naming it is one."""

    what: str
    help: str
    is_mistake: bool = True


def other_kind(text: Optional[str], data: bytes, path: str) -> Optional[Other]:
    """The kind of a file that `check` does not take; None when it may be one of ours.

    Args:
        text: the content; None when it is not text.
        data: the content.
        path: the file.
    """
    base = os.path.basename(path)
    lower = base.lower()
    if lower.endswith(NOTEBOOK):
        help = phrase("check what it exports: jupyter nbconvert --to script {}", path)
        return Other("a notebook", help, False)
    if ".tfevents." in base:
        return Other("a TensorFlow event file", phrase("run: npu-config loss-scale {}", path))
    if lower.endswith(".pb") and _is_graph(data):
        return _graph(path)
    if lower.endswith((".meta", ".ckpt")):
        return _graph(path)
    if text is None or "\0" in text[:_TOP]:
        return _graph(path) if _is_graph(data) else None
    top = text[:_TOP]
    if lower.startswith("op_summary") and lower.endswith(".csv"):
        return Other(
            "an operator table of the profiler", phrase("run: npu-config op-summary {}", path)
        )
    if lower.endswith((".yaml", ".yml")) and all(key.search(top) for key in _MANIFEST):
        return Other(
            "a Kubernetes manifest", phrase("run: kubectl apply --dry-run=client -f {}", path)
        )
    if _GRAPH_TEXT.match(first_line(top)) is not None:
        return _graph(path)
    if top.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        if lower.startswith(("changeinfo", "change_info")):
            return Other(
                "a change-info file of HCCL, not a rank table",
                "name the rank table: npu-config check rank_table.json",
            )
        if lower.startswith("fusion_result") or _FUSION_RESULT.search(top):
            return Other(
                "a fusion_result.json, which the compiler writes",
                phrase("run: npu-config fusion-result {}", path),
            )
        if _ACL_BLOCK.search(top) and _ACL.search(top):
            return Other(
                "an acl.json, the configuration of AscendCL",
                "TensorFlow does not read it: set the options of the session instead, for a dump "
                "enable_dump and dump_path",
            )
        return None
    if lower.endswith((".log", ".out")) and _LOSS.search(top):
        return Other("the log of a training run", phrase("run: npu-config loss-scale {}", path))
    return None


def placeholder(text: str) -> "Optional[re.Match[str]]":
    """Where a JSON text has a placeholder that a script fills in, outside of its strings."""
    outside = re.sub(r'"[^"\n]{0,4000}"', lambda match: " " * len(match.group()), text[:_TOP])
    return _PLACEHOLDER.search(outside)


def first_line(text: str) -> str:
    """The first line that is neither blank nor a comment, without blanks around it."""
    for line in text.lstrip("\ufeff").splitlines():
        content = line.strip()
        if content and not content.startswith("#"):
            return content
    return ""


def _graph(path: str) -> Other:
    return Other("a graph", phrase("run: npu-config diagnose {}", path))


def _is_graph(data: bytes) -> bool:
    """Whether bytes begin as a GraphDef (a node with a name and an operator) or SavedModel.

    A ConfigProto may begin with a field of the same number, but its second part is a number.
    """
    try:
        for field in fields(data):
            if field.number != 1:
                return False
            if field.kind == VARINT:
                return data[2:3] == b"\x12" and b"\n" in data[:64]
            inner = {part.number: part.kind for part in fields(field.value)}
            return inner.get(1) == BYTES and inner.get(2) == BYTES
    except WireError:
        pass
    return False
