"""Data augmentation."""

import functools

from npu_config.catalogue.kinds import Int
from npu_config.catalogue.option import Option, Outcome, table
from npu_config.catalogue.structured import DeviceList
from npu_config.core.versions import since

PAGE = "data_augmentation"
TITLE = "Data augmentation"
DOC = "docs/en/tfadapter_1/apiref/session_config/data_augmentation.md"

_DISTRIBUTED = {"local_rank_id": 0, "local_device_list": "0,1"}

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="local_rank_id",
            kind=Int(minimum=0, maximum=7),
            summary=(
                "Local rank of this process when one host process feeds pre-processed data "
                "to several devices."
            ),
            modes="training",
            scope="graph",
            notes="Unset is -1 internally.",
            outcome=Outcome.ABORT,
            versions=since("r1.3.0"),
            sample=_DISTRIBUTED,
            source=("npu_attrs.cc:2269", "npu_estimator.py:834"),
        ),
        option(
            name="local_device_list",
            kind=DeviceList(),
            summary="Devices the main process sends data to.",
            modes="training",
            scope="graph",
            outcome=Outcome.ABORT,
            versions=since("r1.3.0"),
            sample=_DISTRIBUTED,
            source=("npu_attrs.cc:2278", "npu_estimator.py:836"),
        ),
    )
)
