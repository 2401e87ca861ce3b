"""By which error code a job ends for what a finding shows, where that is known: one table.

It holds what is certain only: a fault that something refuses before it reaches the part that has
the code, or that ends a job sometimes, is not in it.  What logs lead to is the other way round,
and wider (``logs/codes.jsonl``); a test compares the two.
"""

from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.message import arguments_of

__all__ = ["ENDS", "End", "ends_of"]


class End(NamedTuple):
    """A job with this fault ends with this code.

    ``names`` are the options or variables that it holds for; without any, for all.
    """

    rule: str
    code: str
    names: Tuple[str, ...] = ()


_HCCL = (
    "HCCL_EXEC_TIMEOUT",
    "HCCL_CONNECT_TIMEOUT",
    "HCCL_ALGO",
    "HCCL_BUFFSIZE",
    "HCCL_IF_BASE_PORT",
    "HCCL_SOCKET_IFNAME",
    "HCCL_SOCKET_FAMILY",
    "HCCL_OP_EXPANSION_MODE",
    "HCCL_INTRA_PCIE_ENABLE",
    "HCCL_INTRA_ROCE_ENABLE",
    "HCCL_WHITELIST_FILE",
)

ENDS = (
    End("NPU104", "E40022", ("op_compiler_cache_mode", "op_debug_level")),
    End("NPU105", "E20103", ("aicore_num",)),
    End("NPU603", "EE1002"),
    End("NPU641", "EI0004"),
    End("NPU642", "EI0004"),
    End("NPU643", "EI0017"),
    End("NPU646", "EI0014"),
    End("NPU647", "EI0004"),
    End("NPU648", "EI0004"),
    End("NPU650", "EI0004"),
    End("NPU652", "EI0014"),
    End("NPU665", "EJ0004"),
    End("NPU670", "EI0001", _HCCL),
    End("NPU683", "EI0010", ("HCCL_INTRA_ROCE_ENABLE", "HCCL_INTRA_PCIE_ENABLE")),
    End("NPU686", "EI0001"),
    End("NPU720", "E20003"),
    End("NPU725", "E20003"),
    End("NPU726", "E20003"),
    End("NPU746", "EK0001"),
    End("NPU747", "EK0001"),
    End("NPU748", "EK0001"),
    End("NPU749", "EK0005"),
    End("NPU760", "E13018"),
    End("NPU762", "E10052"),
    End("NPU770", "E10410", ("customize_dtypes", "compress_weight_conf")),
    End("NPU770", "E21001", ("modify_mixlist", "fusion_switch_file")),
    End("NPU771", "EF2002", ("graph_parallel_option_path",)),
    End("NPU829", "EI0003"),
)


def ends_of(findings: Iterable[Diagnostic]) -> Sequence[Tuple[str, Sequence[str]]]:
    """The codes with which a job ends that has these findings, and by which rules, in order."""
    found: Dict[str, List[str]] = {}
    for finding in findings:
        if finding.severity is not Severity.ERROR:
            continue
        about = (finding.option, *arguments_of(finding.message))
        for end in ENDS:
            if end.rule == finding.rule and not (end.names and set(end.names).isdisjoint(about)):
                rules = found.setdefault(end.code, [])
                if end.rule not in rules:
                    rules.append(end.rule)
    return list(found.items())
