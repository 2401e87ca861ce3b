"""What a training run says about its loss scale: overflows, their rhythm, a collapse.

Reads training logs (text lines that name the scale and, mostly, the step) and
TensorFlow summaries (event files), makes one series of (step, scale) of them, and
judges it.  Source of the advice: docs/en/tfadapter_1/migration/performance_tuning/
mixed_precision_training.md, faq/npu_loss_scale_optimizer_faq.md,
others/overflow_data_collect.md.
"""

import os
from typing import Iterable, Optional, Union

from npu_config.core.files import PathLike
from npu_config.diagnosis.loss_report._judge import judge_series
from npu_config.diagnosis.loss_report._model import Decrease, LossScaleReport, Pattern
from npu_config.diagnosis.loss_report._read import find_files, read_series
from npu_config.diagnosis.loss_report._rules import training_record_unreadable

__all__ = [
    "Decrease",
    "LossScaleReport",
    "Pattern",
    "training_record_unreadable",
    "loss_scale_report",
]


def loss_scale_report(
    paths: Union[PathLike, Iterable[PathLike]], tag: Optional[str] = None
) -> LossScaleReport:
    """Read logs or summaries of one run and judge its loss scale.

    Args:
        paths: a text log, an event file, a directory with event files, or several.
        tag: the summary that holds the scale; None: the one named like a loss scale.

    Raises:
        NpuConfigError: a file cannot be read, or no loss scale is found.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = [name for path in given for name in find_files(os.fspath(path))]
    return judge_series(
        tuple(files), read_series(files, tag, os.fspath(given[0]) if given else None)
    )
