"""What dump and overflow settings left on disk: listed, read, exported, explained, compared.

Headers, lists, overflow records and graphs are read without numpy; arrays, statistics and
comparisons need it (``pip install "npu_config[compare]"``).  Nothing here needs the vendor's
library.

    from npu_config.dumps import compare_dumps, read_dump

    read_dump("Add.loss_add.8.2.1767323045000002").outputs[0].array("original")
    compare_dumps("npu_dump", "tf_npy", graph="ge_proto_00012_Build.txt").first_diverging
"""

from npu_config.dumps.compare import Comparison, Row, compare_dumps, compare_ranks
from npu_config.dumps.dump import Dump, OriginalOp, Tensor, open_dump, read_dump
from npu_config.dumps.export import export_dumps
from npu_config.dumps.graph import GeGraph, GeOp, read_ge_graph
from npu_config.dumps.layouts import to_original_layout
from npu_config.dumps.metrics import Metrics
from npu_config.dumps.overflow import Overflow, OverflowReport, explain_overflows, read_overflow
from npu_config.dumps.result import ResultTable, read_result, result_csv
from npu_config.dumps.scan import Scan, ScannedTensor, scan_dumps
from npu_config.dumps.single import compare_files
from npu_config.dumps.statistics import Statistics, StatisticsRow, read_statistics, statistics_of
from npu_config.dumps.tree import DumpFile, DumpTree, find_dumps

__all__ = [
    "find_dumps", "DumpTree", "DumpFile",
    "read_dump", "open_dump", "Dump", "Tensor", "OriginalOp", "to_original_layout",
    "statistics_of", "Statistics", "read_statistics", "StatisticsRow",
    "export_dumps",
    "read_overflow", "explain_overflows", "Overflow", "OverflowReport",
    "scan_dumps", "Scan", "ScannedTensor",
    "read_ge_graph", "GeGraph", "GeOp",
    "compare_dumps", "compare_files", "compare_ranks", "Comparison", "Row", "Metrics",
    "read_result", "result_csv", "ResultTable",
]  # fmt: skip
