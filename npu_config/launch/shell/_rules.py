"""The rules about launch scripts as such; what they export is judged as any environment."""

from npu_config.core.diagnostics import Severity, declare


@declare("NPU620", Severity.INFO, source=("npu_config",))
def script_of_other_shell() -> None:
    """A launch script is written for another shell or language than bash, and is not checked.

    The first line says so.  Scripts for csh or fish set variables in another syntax.

    Wrong: `#!/bin/csh` and `setenv RANK_SIZE 8`

    Right: `#!/bin/bash` and `export RANK_SIZE=8`
    """


@declare("NPU624", Severity.ERROR, source=("npu_config",))
def script_line_ends() -> None:
    r"""A launch script has the line ends of Windows.

    Bash takes the `\r` before the end of the line as a part of the last word: `RANK_SIZE=8`
    becomes `8\r`, which is not a number, `do\r` is a syntax error, `#!/bin/bash\r` is
    not found.  Lines that end in a comment, in quotes or in a here-document do not count.

    Wrong: lines that end with `\r\n`

    Right: `dos2unix launch.sh`
    """


@declare(
    "NPU621",
    Severity.WARNING,
    source=("docs/en/tfadapter_1/migration/model_training/distributed_training.md",),
)
def starter_of_other_framework() -> None:
    r"""A launch script starts the processes of an NPU job with the launcher of another framework.

    `horovodrun`, `torchrun`, `deepspeed` and others know nothing of rank tables: they set neither
    `RANK_ID` nor `ASCEND_DEVICE_ID`, which npu_bridge reads, so that every process takes device 0
    and HCCL never forms.  `mpirun` is reported as information where the script also sets
    `RANK_TABLE_FILE`, because a wrapper may set the rest from the variables of MPI.

    The script that is started decides: it, or what it imports, imports `npu_bridge` or
    `npu_config`; or TensorFlow, where the launch script sets variables of the NPU.  Nothing is
    said where it cannot be found.  A job of PyTorch, MindSpore or another framework is not judged
    at all: its processes read other variables.

    Wrong: `horovodrun -np 8 python3 train.py`

    Right:

        npu-config env --rank-table rank_table.json --job-id resnet --to launcher -o . \
            -- python3 train.py
        bash launch_0_10.0.0.1.sh
    """


@declare(
    "NPU622",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=("docs/en/tfa_env/RANK_TABLE_FILE.md",),
    help="check the table by itself: npu-config check TABLE",
)
def rank_table_path() -> None:
    """`RANK_TABLE_FILE` in a launch script names something that is not a rank table.

    The file that is there cannot be read as a rank table, or is a directory.  A file that is not
    there is reported on the training host only (`--on-host`): many scripts write it before they
    use it.  A path that does not end in `.json` is a wrong value (NPU670).

    Wrong: `export RANK_TABLE_FILE=/data/rank_table.json`, whose `status` is `initializing`

    Right: the same, when `status` is `completed`
    """


@declare("NPU623", Severity.WARNING, source=("npu_config",))
def shell_parser_missing() -> None:
    """The parser of shell scripts is not installed, and the script is not checked.

    Install the extra `cli`: `pip install "npu_config[cli]"`.  A hook for pre-commit that is
    written by hand needs what the extra holds in its `additional_dependencies`.
    """


@declare(
    "NPU691",
    Severity.ERROR,
    source=("npu_config",),
    help="correct the line; bash -n SCRIPT says where it stops",
)
def script_syntax() -> None:
    """Bash refuses a launch script: a block or a quote has no end, or an end has no beginning.

    Bash runs what stands before the place, and ends there.  Only what is certain is reported,
    and then nothing else about the script: `bash -n SCRIPT` says everything.

    Wrong: `for i in 0 1; do python3 train.py &` and no `done`

    Right: `for i in 0 1; do python3 train.py & done`
    """


@declare("NPU692", Severity.ERROR, source=("npu_config",))
def export_of_no_name() -> None:
    """`export` is followed by what is not a name: there is whitespace around the `=`.

    Bash says "not a valid identifier"; the variable does not get the value.

    Wrong: `export RANK_SIZE = 8`

    Right: `export RANK_SIZE=8`
    """
