"""The rules about text as such: files that cannot be read, or hold more than any real one."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare


@declare(
    "NPU701", Severity.ERROR, source=("npu_config",), help="check the path, and who may read it"
)
def unreadable_file() -> None:
    """A file cannot be read, or is not UTF-8 text where text is expected.

    It does not exist, is a directory, may not be read by this user, vanished in the meantime, or
    was saved in another encoding.  The other files are checked all the same.

    Wrong:

        npu-config check npu.ymal

    Right:

        npu-config check npu.yaml
    """


@declare(
    "NPU702",
    Severity.ERROR,
    source=("YAML 1.1", "TOML 1.0", "the text format of protobuf"),
    help="correct the line",
)
def unparsable_file() -> None:
    """The text is not of the format that the name of the file promises.

    What could be read before the fault is judged; what seems to be missing is not.

    Wrong, in a TOML file:

        precision_mode: allow_mix_precision

    Right:

        precision_mode = "allow_mix_precision"
    """


@declare(
    "NPU703", Severity.ERROR, source=("npu_config",), help="split the file, or give the right file"
)
def file_too_large() -> None:
    """A file is larger, deeper or holds more values than any real one, and is not read.

    The message states the limit.  A configuration has 108 options; its file is a few kilobytes.
    The limits keep an accident (a log named `.yaml`, a bomb of aliases) from eating the memory
    of the machine that checks it.
    """


@declare("NPU784", Severity.INFO, source=("npu_config",))
def not_checked_here() -> None:
    """A file is of a kind that is known and not checked.

    A notebook, and a script for the adapter of TensorFlow 2 (`import npu_device`), whose options
    have other names and other rules.  Nothing is said about what is in it: it counts as not
    checked, and with `--strict` a file that was named fails.

    A script of TensorFlow for GPUs, or with Horovod, is one of these as long as neither it nor
    a file that it imports is for the NPU: `npu-config migrate` says what to change.  So is a
    script for PyTorch or another framework that was named.  In a directory they are counted at
    most.

    Wrong: `npu-config check train.ipynb`

    Right: `jupyter nbconvert --to script train.ipynb`, and `npu-config check train.py`
    """


@declare(
    "NPU709",
    Severity.WARNING,
    source=("npu_config",),
    help="npu-config init writes a file to start from",
)
def nothing_to_check() -> None:
    """A file is empty, or a directory holds no file that could be checked.

    No file is wrong, but whoever ran the check expected one there.
    """
