"""Operator and graph compilation."""

import functools

from npu_config.catalogue.kinds import PATH_CHARACTERS, Bool, Choice, Path
from npu_config.catalogue.option import Option, Outcome, Status, products, table
from npu_config.catalogue.structured import AicoreNum, PassSwitches
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.core.versions import since

PAGE = "compilation"
TITLE = "Operator and graph compilation"
DOC = "docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="op_compiler_cache_mode",
            kind=Choice(("enable", "force", "disable")),
            summary="Disk cache of operator compilation.",
            default="enable",
            run_config_default=None,
            scope="process",
            notes="Adapter does not check the value and sends an empty string when unset.",
            outcome=Outcome.GE,
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2403", "npu_estimator.py:819"),
        ),
        option(
            name="op_compiler_cache_dir",
            kind=Path("directory", characters=PATH_CHARACTERS),
            summary="Directory of the operator compile cache.",
            scope="process",
            notes="Unset: ${ASCEND_CACHE_PATH}/kernel_cache, then $HOME/atc_data.",
            outcome=Outcome.UNCHECKED,
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2406", "npu_estimator.py:821"),
        ),
        option(
            name="aicore_num",
            kind=AicoreNum(),
            summary="Upper bound of Cube and Vector cores used when compiling operators.",
            products=products(Product.ATLAS_A3, Product.ATLAS_A2),
            scope="process+session",
            notes=(
                "GE documentation also lists ascend_950, and a single integer for "
                "atlas_training / atlas_inference."
            ),
            outcome=Outcome.GE,
            versions=since("v0.0.48"),
            sample={"op_compiler_cache_mode": "disable"},
            source=("npu_attrs.cc:2603", "npu_estimator.py:731"),
        ),
        option(
            name="oo_constant_folding",
            kind=Bool(),
            summary="Constant folding at graph compilation.",
            default=True,
            scope="process",
            notes="A value stored in another oneof field is ignored silently.",
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2596", "npu_estimator.py:740"),
        ),
        option(
            name="oo_level",
            kind=Choice(("O1", "O3")),
            summary="Graph optimisation level.",
            default="O3",
            scope="process+session",
            status=Status.UNDOCUMENTED,
            outcome=Outcome.GE,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2622", "npu_estimator.py:758"),
        ),
        option(
            name="optimization_switch",
            kind=PassSwitches(),
            summary="Switches single compile passes on or off.",
            scope="process+session",
            status=Status.UNDOCUMENTED,
            notes=(
                "Overrides fusion_switch_file for the same pass. The adapter appends the "
                "internal token forbidden_close_pass:on."
            ),
            outcome=Outcome.SILENT,
            severity=Severity.WARNING,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2627", "npu_estimator.py:767"),
        ),
    )
)
