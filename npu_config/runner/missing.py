"""A script that needs TensorFlow where there is none, or Horovod."""

import sys
from typing import Optional

from npu_config.core.message import localized

_TENSORFLOW = "tensorflow"
_HOROVOD = "horovod"


def failed_import(error: BaseException) -> Optional[ModuleNotFoundError]:
    """The failed import of TensorFlow or Horovod that an exception is about, if any."""
    for each in (error, error.__cause__):
        if isinstance(each, ModuleNotFoundError) and each.name in (_TENSORFLOW, _HOROVOD):
            return each
    return None


def advice(error: ModuleNotFoundError) -> str:
    """What to do, on one line."""
    if error.name == _HOROVOD:
        text = "npu-config run: there is no Horovod for the NPU; npu-config migrate {} replaces it"
        return localized(text, sys.argv[0])
    package = '"tensorflow<2.16"' if sys.version_info < (3, 12) else _TENSORFLOW
    if sys.version_info < (3, 8):
        package = "tensorflow==1.15.5"
    text = "npu-config run: TensorFlow is not installed for {}; pip install {}"
    return localized(text, sys.executable, package)
