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

    Most parsers keep the last value and say nothing, some keep the first: the reader of the file
    and the training job may then work with different settings.  An option that is once in
    its group and once outside is set twice, too.

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
    `8.50` is the number 8.5, `2024-01-01` is a date, and YAML 1.2 disagrees with YAML 1.1 about
    most of them.  A tab cannot indent.  Merge keys, tags and a second document are not accepted.

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

    Options are at the top or in their group; the groups are those of the vendor's pages.  An
    option in another group, a group that is not a mapping, a group that does not exist and an
    option without a value are refused.

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

    `version` is 1.  `target` holds any of `product`, `mode` and `cann`.

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

    It is the path of a configuration in YAML, TOML or JSON, or a list of such paths, relative to
    the file that holds it.  A file that is not there, a file of another format (a ConfigProto, a
    training script, a side file), and files that extend each other in a circle are refused.  What
    is wrong inside of a base is reported there.

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

    The later one wins.  A value in the file itself says what is meant, and ends the note.

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

    `npu_config.record`, `ConfigRecordHook` and `NPU_CONFIG_RECORD` write records; nobody edits
    them.  What can be read of a damaged one is shown and compared, the rest is said to be missing.

    Wrong: `{"version": 2, "tool": "npu_config 9.0", ...}`

    Right: `{"version": 1, "tool": "npu_config 0.1.0", ...}`
    """


@declare("NPU708", Severity.ERROR, source=("npu_config",))
def unknown_file_kind() -> None:
    """The type of a file cannot be determined from its name or content.

    Configuration files (.yaml .yml .toml .json), ConfigProto text and bytes (.pbtxt .pb) and
    training scripts (.py) are known by their suffix, side files and rank tables by their content.
    `--as KIND` says it.
    """


@declare("NPU780", Severity.ERROR, source=("npu_config",))
def file_of_another_kind() -> None:
    """A named file is of a type that `check` does not support.

    A graph, the log of a training run, the tables of the profiler, fusion_result.json and
    acl.json are known by their content; the help names the command that takes the file, where
    there is one.  In directories they are passed over.

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

    None of the keys at its top is an option or a group of options, or those that are have many
    others beside them.  It is not checked key by key and `--fix` leaves it alone.  A
    configuration holds `version`, `target`, options, and groups of options.  In directories
    such files are passed over.

    Wrong: `npu-config check package.json`

    Right: `npu-config check npu_config.yaml`
    """


@declare("NPU781", Severity.INFO, source=("npu_config",))
def template() -> None:
    """A JSON file has placeholders that a script fills in.

    `{instance_list}`, `${RANK_TABLE}` or `{{ servers }}` outside of a text make the file a
    template.  It is not judged; the file that comes of it is.

    Wrong: `{"server_count": "1", "server_list": {instance_list}}`

    Right: the file with the list filled in.
    """


@declare("NPU790", Severity.INFO, source=("npu_config",))
def missing_version() -> None:
    """A configuration file has no `version`.

    It is read as version 1.  The line lets a later npu_config know what the file means, and
    helps `npu-config check DIRECTORY` to recognise it.

    Right:

        version: 1
        precision:
          precision_mode: allow_mix_precision
    """
