"""A script that needs TensorFlow where there is none."""

import sys
from typing import Optional

from npu_config.core.message import localized

_TENSORFLOW = "tensorflow"


def failed_import(error: BaseException) -> Optional[BaseException]:
    """The failed import of TensorFlow that an exception is about, if it is about one."""
    for each in (error, error.__cause__):
        if isinstance(each, ModuleNotFoundError) and each.name == _TENSORFLOW:
            return each
    return None


def advice() -> str:
    """What to install, on one line."""
    package = '"tensorflow<2.16"' if sys.version_info < (3, 12) else _TENSORFLOW
    if sys.version_info < (3, 8):
        package = "tensorflow==1.15.5"
    text = "npu-config run: TensorFlow is not installed for {}; pip install {}"
    return localized(text, sys.executable, package)
