"""What a colleague needs to help, in one archive without names.

Logs around causes, the configuration, versions.
"""

import io
import json
import os
import platform
import sys
import zipfile
import zlib
from typing import Dict, List, Optional, Sequence, Tuple

from npu_config.core.message import localized
from npu_config.core.paths import reading
from npu_config.core.version import __version__
from npu_config.logs.causes import Cause
from npu_config.logs.lines import LONGEST, decoded
from npu_config.logs.redact import Redactor
from npu_config.logs.report import LogReport
from npu_config.logs.text import again, text_report
from npu_config.rules.toolkit import installed_cann

__all__ = ["bundle"]

_BEFORE, _BEHIND = 200, 100
_LARGEST = 1 << 20
_PACKAGES = ("tensorflow", "npu_bridge", "numpy", "protobuf", "attrs", "click")


def bundle(
    report: LogReport, config: Optional[str], redactor: Redactor
) -> Tuple[bytes, Sequence[str]]:
    """The archive, and what is in it.

    Args:
        report: what was found.
        config: the configuration or the script that is added.
        redactor: takes names out of everything.
    """
    document = redactor.document(report.as_json())
    files: Dict[str, str] = {
        "report.txt": redactor.text(text_report(report, everything=True)),
        "report.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        "versions.txt": redactor.text(_versions()),
    }
    for number, (path, lines) in enumerate(_places(report).items(), 1):
        name = "logs/{:03}-{}".format(
            number, "stdin" if path == "-" else os.path.basename(redactor.text(path))
        )
        files[name] = _excerpt(path, lines, redactor, report)
    if config is not None and config != "-":
        files["configuration/" + os.path.basename(redactor.text(config))] = redactor.text(
            _content(config)
        )
    names = [
        "{:>9,} {}".format(len(text.encode("utf-8", "surrogateescape")), name)
        for name, text in files.items()
    ]
    files["CONTENTS.txt"] = "\n".join(names) + "\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, text.encode("utf-8", "surrogateescape"))
    return out.getvalue(), names


def _places(report: LogReport) -> Dict[str, List[int]]:
    """The lines of causes, by file, the first cause first."""
    causes: List[Optional[Cause]] = [report.first_cause, *report.others]
    causes += [state.first_error for state in report.ranks]
    found: Dict[str, List[int]] = {}
    for cause in causes:
        if cause is not None and (cause.file != "-" or report.copy is not None):
            found.setdefault(cause.file, []).append(cause.line)
    return found


def _excerpt(path: str, lines: Sequence[int], redactor: Redactor, report: LogReport) -> str:
    """The lines of a log around some of them, with their numbers."""
    spans = sorted((line - _BEFORE, line + _BEHIND) for line in lines)
    last = spans[-1][1]
    found: List[str] = [localized("# lines of {} around the findings", redactor.text(path))]
    try:
        with again(path, report.copy) as stream:
            for number, raw in enumerate(stream, 1):
                if number > last:
                    break
                if any(start <= number <= end for start, end in spans):
                    found.append(
                        "{:>8} {}".format(number, redactor.text(decoded(raw[:LONGEST].rstrip())))
                    )
    except (OSError, EOFError, zlib.error) as error:
        found.append(localized("cannot be read: {}", error))
    return "\n".join(found) + "\n"


def _content(path: str) -> str:
    """A whole file as text, in whatever encoding."""
    with open(path, "rb", opener=reading) as stream:
        return "\n".join(map(decoded, stream.read(_LARGEST).split(b"\n")))


def _versions() -> str:
    lines = [
        " ".join(words)
        for words in (
            ("npu_config", __version__),
            ("Python", sys.version.split()[0], platform.machine()),
            ("system", platform.system(), platform.release()),
            ("CANN", installed_cann(os.environ) or "-"),
        )
    ]
    try:
        from importlib.metadata import PackageNotFoundError, version
    except ImportError:  # Python 3.7
        return "\n".join(lines) + "\n"
    for name in _PACKAGES:
        try:
            lines.append("{} {}".format(name, version(name)))
        except PackageNotFoundError:
            continue
    return "\n".join(lines) + "\n"
