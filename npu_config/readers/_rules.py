"""The rules that readers of files apply: what keeps a file from being judged at all."""

from npu_config.core.diagnostics import Severity, declare
from npu_config.text.rules import (
    file_too_large,
    not_checked_here,
    nothing_to_check,
    unparsable_file,
)

__all__ = ["nothing_to_check", "not_checked_here", "file_too_large", "unparsable_file"]


@declare(
    "NPU704",
    Severity.ERROR,
    source=("YAML 1.2, section 3.2.1.3", "TOML 1.0", "RFC 8259, section 4"),
)
def duplicate_key() -> None:
    """A key appears twice in a configuration file.

    Most parsers keep the last value without any message, some keep the first one: a person who
    reads the file may expect another value than the training job gets.  An option that is set
    inside its group and also outside is set twice, too.

    Wrong:

        iterations_per_loop: 10
        mix_compile_mode: true
        iterations_per_loop: 100

    Right:

        iterations_per_loop: 100
        mix_compile_mode: true
    """


@declare(
    "NPU705",
    Severity.ERROR,
    source=("YAML 1.1, section 10.3 and the type repository", "YAML 1.2, chapter 10"),
    help="write the plain value; put text in quotes",
)
def yaml_trap() -> None:
    """YAML reads a value as an unexpected type, or a YAML feature is not supported.

    `off`, `on`, `yes` and `no` are booleans, `010` is eight, `30:00` is 1800, `1_000` is 1000,
    `8.50` is the number 8.5, `2024-01-01` is a date, and YAML 1.2 reads most of them differently
    from YAML 1.1.  Tabs cannot be used for indentation.  Merge keys, tags and a second document
    are not supported.

    Wrong:

        hccl_timeout: 010
        target:
          cann: 8.50

    Right:

        hccl_timeout: 10
        target:
          cann: "8.50"
    """


@declare(
    "NPU706",
    Severity.ERROR,
    source=("npu_config",),
    help="correct the structure; npu-config init writes a file to start from",
)
def wrong_structure() -> None:
    """A configuration file is not a mapping of options and groups of options.

    An option is written at the top level or in its group; the groups correspond to the pages of
    the vendor's documentation.  Not allowed are an option in another group, a group that is not a
    mapping, an unknown group, and an option without a value.

    Wrong:

        version: 1
        dump: true

    Right:

        version: 1
        dump:
          enable_dump: true
          dump_path: /home/test/dump
    """


@declare("NPU707", Severity.ERROR, source=("npu_config",), help="correct the entry, or remove it")
def wrong_header() -> None:
    """`version` or `target` of a configuration file cannot be understood.

    `version` must be 1.  `target` may contain `product`, `mode` and `cann`.

    Wrong:

        version: 2
        target:
          product: Atlas A2

    Right:

        version: 1
        target:
          product: atlas_a2
    """


@declare(
    "NPU7061",
    Severity.ERROR,
    source=("npu_config",),
    help="specify the path of a YAML, TOML or JSON configuration, relative to this file",
)
def base_not_read() -> None:
    """A file that a configuration names under `extends` cannot be read.

    `extends` is the path of a configuration file in YAML, TOML or JSON, or a list of such paths,
    relative to the file that contains `extends`.  Not allowed are a file that does not exist, a
    file of another format (a ConfigProto, a training script, a side file), and files that extend
    each other in a circle.  Faults in a base file are reported in that file.

    Wrong:

        version: 1
        extends: train.py

    Right: `npu-config generate train.py -o base.yaml`, and then

    <!-- not run: there is no base.yaml -->

        version: 1
        extends: base.yaml
    """


@declare("NPU7062", Severity.INFO, source=("npu_config",))
def bases_disagree() -> None:
    """Two files that a configuration extends set one option to different values.

    The value in the later file is used.  To choose a value explicitly, and to remove this note,
    set the option in the file that extends them.

    Wrong: `extends: [fast.yaml, debug.yaml]`, where both set `iterations_per_loop`.

    Right: the file that extends them sets `iterations_per_loop`, too.
    """


@declare(
    "NPU7063",
    Severity.ERROR,
    source=("npu_config",),
    help=(
        "pass the path of an npu_config.json that was not edited, or of its folder; if a newer "
        "version of npu_config wrote the file, update npu_config"
    ),
)
def record_not_read() -> None:
    """The record of a job (`npu_config.json`) is damaged, or of an unknown version.

    `npu_config.record`, `ConfigRecordHook` and `NPU_CONFIG_RECORD` write records; do not edit them
    by hand.  Whatever can be read of a damaged record is shown and compared, and the rest is
    reported as missing.

    Wrong: `{"version": 2, "tool": "npu_config 9.0", ...}`

    Right: `{"version": 1, "tool": "npu_config 0.1.0", ...}`
    """


@declare("NPU708", Severity.ERROR, source=("npu_config",))
def unknown_file_kind() -> None:
    """The type of a file cannot be determined from its name or content.

    Configuration files (.yaml .yml .toml .json), ConfigProto files in text or binary format
    (.pbtxt .pb) and training scripts (.py) are recognised by their suffix; side files and rank
    tables are recognised by their content.  `--as KIND` specifies the type.
    """


@declare("NPU780", Severity.ERROR, source=("npu_config",))
def file_of_another_kind() -> None:
    """A named file is of a type that `check` does not support.

    A graph, the log of a training run, the tables of the profiler, fusion_result.json and acl.json
    are recognised by their content; the help line names the command that reads the file, if such a
    command exists.  When a directory is checked, these files are skipped.

    Wrong: `npu-config check graph.pbtxt`

    Right: `npu-config diagnose graph.pbtxt`
    """


@declare(
    "NPU7011",
    Severity.ERROR,
    source=("npu_config",),
    help=(
        "pass the file that contains the NPU options instead; to check every key of this file, "
        "add --as yaml, toml or json"
    ),
)
def foreign_file() -> None:
    """A YAML, TOML or JSON file on the command line has the settings of another program.

    No top-level key of the file is an option or a group of options, or many other keys are beside
    them.  `check` does not check the keys one by one, and `--fix` does not change the file.  A
    configuration contains `version`, `target`, options, and groups of options.  When a directory
    is checked, such files are skipped.

    Wrong: `npu-config check package.json`

    Right: `npu-config check npu_config.yaml`
    """


@declare("NPU781", Severity.INFO, source=("npu_config",))
def template() -> None:
    """A JSON file has placeholders that a script fills in.

    A file that contains `{instance_list}`, `${RANK_TABLE}` or `{{ servers }}` outside of a string
    is a template.  The template is not checked; the file that is generated from it is.

    Wrong: `{"server_count": "1", "server_list": {instance_list}}`

    Right: the file with the list filled in.
    """


@declare("NPU790", Severity.INFO, source=("npu_config",))
def missing_version() -> None:
    """A configuration file has no `version`.

    The file is read as version 1.  With this line, a later npu_config knows how to read the file,
    and `npu-config check DIRECTORY` can recognise the file.

    Right:

        version: 1
        precision:
          precision_mode: allow_mix_precision
    """
