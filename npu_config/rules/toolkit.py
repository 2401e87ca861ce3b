"""The version of CANN that is installed on this host, read from the files of its toolkit."""

import glob
import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Iterator, Mapping, Optional

from npu_config.core.paths import reading
from npu_config.core.target import Target
from npu_config.core.versions import parse_cann

ROOTS = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")
"""The variables that point to the toolkit, or to a folder in it."""

_FILES = (
    "ascend_toolkit_install.info",
    "*-linux/ascend_toolkit_install.info",
    "version.cfg",
    "version.info",
    "*/version.info",
    "../version.cfg",
)
_KEYS = ("version", "toolkit_running_version", "runtime_running_version")
_LARGEST = 65536


def installed_cann(environ: Mapping[str, str]) -> Optional[str]:
    """The version of CANN that the toolkit says it is; None when it cannot be known.

    Nothing is run: ``ascend_toolkit_install.info``, ``version.cfg`` and ``version.info`` below the
    folders that :data:`ROOTS` name are read, then those of the plugin that the vendor's package is
    part of.
    """
    for root in (environ.get(name) for name in ROOTS):
        if not root or "\0" in root:
            continue
        for pattern in _FILES:
            for path in sorted(glob.glob(os.path.join(glob.escape(root), pattern))):
                version = next(_versions(path), None)
                if version is not None:
                    return version
    beside = (version for path in _of_package() for version in _versions(path))
    return next(beside, None)


def _of_package() -> Iterator[str]:
    """The files of the plugin that holds ``npu_bridge``; the package is found, not imported.

    The vendor installs it as ``tfplugin/VERSION/python/site-packages/npu_bridge``.
    """
    try:
        spec = find_spec("npu_bridge")
    except (ImportError, ValueError):
        return
    folder = os.path.dirname(os.path.abspath(spec.origin)) if spec and spec.origin else None
    if folder is None or os.path.basename(folder) != "npu_bridge":
        return
    plugin = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    for name in ("ascend_tfplugin_install.info", "version.cfg", "version.info"):
        yield os.path.join(plugin, name)


def _versions(path: str) -> Iterator[str]:
    """Every version of CANN in a file: ``version=8.0.0``, ``..._version=[7.6.0.1:8.0.0]``."""
    try:
        if not os.path.isfile(path):
            return
        with open(path, encoding="utf-8", errors="replace", opener=reading) as stream:
            lines = stream.read(_LARGEST).splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip().lower() in _KEYS:
            try:
                yield parse_cann(value.strip().strip("[]").rpartition(":")[2])[0]
            except ValueError:
                continue


def on_this_host(target: Target, environ: Optional[Mapping[str, str]] = None) -> Target:
    """The target; one without a version has that of the CANN that is installed here, if any."""
    if target.version is not None:
        return target

    cann = installed_cann(os.environ if environ is None else environ)
    return target if cann is None else replace(target, cann=cann)
