"""Checks of a script against the adapter of the target's version."""

import ast
import re

from npu_config.catalogue.api import EXPORT_VERSIONS, NPU_INIT
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import phrase
from npu_config.core.versions import SNAPSHOTS
from npu_config.script.checks._check import Context, check


@check(
    "NPU807",
    Severity.ERROR,
    source=("tf_adapter/python/npu_bridge/npu_init.py",),
    whole=True,
)
def import_not_in_version(context: Context) -> None:
    """A name is imported from npu_init that the adapter of the target's version does not have.

    It raises ImportError on the host.  Speaks only when a version is given (``--target-cann``).

    Wrong, for CANN 5.0.2:

        from npu_bridge.npu_init import SetIterationsVarHook

    Right, for CANN 5.0.2:

        from npu_bridge.npu_init import NPUEstimator
    """
    if context.version is None:
        return
    for node in ast.walk(context.script.tree):
        if not isinstance(node, ast.ImportFrom) or node.module != NPU_INIT or node.level:
            continue
        for alias in node.names:
            versions = EXPORT_VERSIONS.get(alias.name)
            if versions is not None and not versions.has(context.version):
                context.report(
                    phrase(
                        'npu_init of {} has no "{}"; adapters have it {}',
                        SNAPSHOTS[context.version],
                        alias.name,
                        versions,
                    ),
                    _place_of_name(context, node, alias.name),
                    help="run with a version that has it",
                    consequence="it raises ImportError",
                )


def _place_of_name(context: Context, node: ast.ImportFrom, name: str) -> Place:
    """Where an import names something; Python below 3.10 does not say."""
    source = context.script.source
    line = next((line for line in source.mentions(name) if line >= node.lineno), None)
    found = line and re.search(r"\b{}\b".format(re.escape(name)), source.lines[line - 1])
    if not found or line is None:
        return Place(source.path, node.lineno, 1)
    return Place(source.path, line, found.start() + 1, line, found.end() + 1)
