"""Options that older adapters read and the newest does not: names for a target of that time."""

import functools

from npu_config.catalogue.kinds import Choice, Text
from npu_config.catalogue.option import Option, Status, table
from npu_config.core.versions import spans, until

PAGE = "removed"

option = functools.partial(Option, page=PAGE, run_config=None)

REMOVED = table(
    (
        option(
            name="fp_point",
            kind=Text(),
            summary="The operator at which the forward pass begins, for profiling.",
            status=Status.NO_EFFECT,
            replacement="the key fp_point of profiling_options",
            versions=until("r1.1.1"),
        ),
        option(
            name="bp_point",
            kind=Text(),
            summary="The operator at which the backward pass ends, for profiling.",
            status=Status.NO_EFFECT,
            replacement="the key bp_point of profiling_options",
            versions=until("r1.1.1"),
        ),
        option(
            name="mstune_mode",
            kind=Choice(("1", "2", "3", "4")),
            summary="Kind of automatic tuning.",
            status=Status.NO_EFFECT,
            replacement="aoe_mode",
            versions=spans(("r1.2.0", "r1.3.0")),
            unchecked=spans(("r1.2.0", "r1.2.0")),
        ),
        option(
            name="op_tune_mode",
            kind=Text(),
            summary="What the tuning of operators does.",
            status=Status.NO_EFFECT,
            replacement="aoe_mode",
            versions=spans(("r1.3.0", "r1.3.0")),
        ),
        option(
            name="es_cluster_config",
            kind=Text(),
            summary="The cluster of an embedding service.",
            status=Status.NO_EFFECT,
            versions=spans(("v0.0.3", "v0.0.3"), ("v0.0.4", "v0.0.20")),
        ),
    )
)
"""Source: the history of tf_adapter/util/npu_attrs.cc."""
