"""8011: a side file that came with a builder is named, and nobody has written it."""

from __future__ import annotations

import os
from typing import Iterable, Iterator, Tuple

from npu_config.catalogue.kinds import shorten
from npu_config.core.calls import warn
from npu_config.core.diagnostics import NOWHERE, REGISTRY, Diagnostic, Place, Severity, rule
from npu_config.core.message import phrase
from npu_config.rules.case import Case


class SideFileWarning(UserWarning):
    """A configuration is used that names a file which nobody has written."""


@rule(
    "NPU8011",
    Severity.WARNING,
    options=("modify_mixlist", "op_precision_mode", "fusion_switch_file"),
    facts=("ge-file-checks-abort",),
    source=("npu_config", "cann/ge:compiler/engines/nn_engine/utils/common/config_parser"),
)
def side_file_not_written(case: Case) -> None:
    """An option names a file that NpuConfigBuilder creates, but the file is never saved.

    ``mixed_precision(black_list=...)``, ``op_precision(...)``, ``fusion_switch(...)`` and
    ``fusion_off()`` set an option to the path of a file and keep the content in memory; only
    ``NpuConfig.save_side_files`` writes the file.  Without the file the graph engine rejects the
    option and the adapter aborts the process.  Nothing is reported if the file exists, or if the
    script writes it.

    Wrong, in a script:

        config = NpuConfigBuilder().mixed_precision(black_list=["ReduceSumD"]).build()
        session_config = config.to_config_proto()

    Right, in a script:

        config = NpuConfigBuilder().mixed_precision(black_list=["ReduceSumD"]).build()
        config = config.save_side_files(".")
        session_config = config.to_config_proto()
    """
    if not case.settings.needs_files or case.on_host:
        return  # on the host the rules about paths look at every file
    for name, setting in case.entries.items():
        if setting.content is not None and isinstance(setting.value, str):
            folder = os.path.dirname(setting.place.path or "")
            if not is_there(setting.value, folder):
                case.diagnostics.append(_finding(name, setting.value, setting.place))


def is_there(path: str, folder: str = "") -> bool:
    """True for a file of the directory that a process runs in, or of the script's."""
    try:
        return os.path.lexists(path) or os.path.lexists(os.path.join(folder, path))
    except ValueError:  # no path of this system
        return False


def _finding(name: str, path: str, place: Place = NOWHERE) -> Diagnostic:
    return REGISTRY["NPU8011"].diagnostic(
        phrase(
            '"{}" names the file "{}", which does not exist because it was never saved',
            name,
            shorten(path),
        ),
        place,
        name,
        "save the file before the session is created: config = config.save_side_files(directory)",
        consequence="the adapter aborts the process",
    )


def unwritten(files: Iterable[Tuple[str, str]]) -> Iterator[Diagnostic]:
    """What is said of each file (option and path) that is not there."""
    return (_finding(name, path) for name, path in files if not is_there(path))


def warn_unwritten(files: Iterable[Tuple[str, str]]) -> None:
    """Warn of each file (option and path) that is not there when a configuration is used."""
    for finding in unwritten(files):
        warn(finding, SideFileWarning)
