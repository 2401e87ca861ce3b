"""AOE tuning."""

import functools

from npu_config.catalogue.kinds import Choice, Path, Text
from npu_config.catalogue.option import Option, Outcome, Status, products, table
from npu_config.core.target import Product
from npu_config.core.versions import since, spans

PAGE = "aoe"
TITLE = "AOE tuning"
DOC = "docs/en/tfadapter_1/apiref/session_config/AOE.md"

_TUNED = products(Product.ATLAS_A3, Product.ATLAS_A2, Product.ATLAS_TRAINING)

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="aoe_mode",
            kind=Choice(("1", "2", "4")),
            summary="AOE tuning job: 1 subgraph, 2 operator, 4 gradient splitting.",
            products=_TUNED,
            modes="training",
            scope="process",
            notes="String, not int. Absent: environment variable AOE_MODE is used.",
            outcome=Outcome.REJECT,
            value_products={
                "1": products(Product.ATLAS_TRAINING),
                "2": _TUNED,
                "4": _TUNED,
            },
            versions=since("r1.5.0"),
            value_versions={
                "3": spans(("r1.5.0", "r1.10.0")),
                "mdat": spans(("r1.10.0", "v0.0.20")),
            },
            source=("npu_attrs.cc:2154", "npu_estimator.py:705"),
        ),
        option(
            name="work_path",
            kind=Path("directory"),
            summary="AOE working directory.",
            default="./",
            products=_TUNED,
            modes="training",
            run_config_default=None,
            scope="process",
            read_when=("aoe_mode",),
            outcome=Outcome.ABORT,
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2169", "npu_estimator.py:707"),
        ),
        option(
            name="aoe_config_file",
            kind=Path("file"),
            summary="Path of a JSON file restricting which operators AOE tunes.",
            products=_TUNED,
            modes="training",
            scope="process",
            used_when=("aoe_mode",),
            outcome=Outcome.UNCHECKED,
            versions=since("r1.11.0"),
            sample={"aoe_mode": "2"},
            source=("npu_attrs.cc:2570", "npu_estimator.py:713"),
        ),
        option(
            name="distribute_config",
            kind=Path("file"),
            summary="AOE distributed tuning configuration path.",
            products=_TUNED,
            modes="training",
            scope="process",
            read_when=("aoe_mode",),
            status=Status.UNDOCUMENTED,
            versions=since("r1.3.0"),
            sample={"aoe_mode": "4"},
            source=("npu_attrs.cc:2184", "npu_estimator.py:711"),
        ),
        option(
            name="auto_tune_mode",
            kind=Text(),
            summary="Removed auto-tune switch; any non-empty value is refused by GE.",
            run_config=None,
            scope="process",
            status=Status.NO_EFFECT,
            replacement="aoe_mode",
            outcome=Outcome.ABORT,
            versions=spans((None, "r1.10.0"), ("v0.0.3", None)),
            sample={"auto_tune_mode": ""},
            doc=None,
            source=("npu_attrs.cc:2134",),
        ),
    )
)
