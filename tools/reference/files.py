"""Every kind of file that is read, and how it is called on the command line."""

from npu_config.catalogue import OPTIONS
from npu_config.sidefiles import FORMATS
from tools.reference import options
from tools.reference.markdown import NOTE, table


def render() -> str:
    """The page."""
    rows = [
        (
            "`{}`".format(entry.name),
            entry.title,
            "`{}`".format(entry.default_name),
            ", ".join(
                options.link(OPTIONS[name], "../options/")
                if name in OPTIONS
                else "`{}`".format(name)
                for name in entry.options
            ),
        )
        for entry in FORMATS.values()
    ]
    return "\n".join(
        [
            NOTE,
            "# File formats\n",
            (
                "Files are recognised by what they hold, then by their name; `npu-config check "
                "--as KIND` says which kind a file is. What each holds, and how to write one, "
                "is in [side files](../side-files.md) and [rank tables](../distributed.md).\n"
            ),
            "## Files that options point to\n",
            table(("kind", "what it is", "usual name", "named by"), rows),
            "",
            "## Others\n",
            table(
                ("kind", "what it is"),
                (
                    (
                        "`yaml`, `toml`, `json`",
                        (
                            "a configuration; `npu-config schema` prints its "
                            "JSON Schema, `npu-config init` a commented one"
                        ),
                    ),
                    ("`pbtxt`, `pb`", "a ConfigProto as text or bytes"),
                    ("`script`", "a training script (`.py`)"),
                    ("`shell`", "a launch script (`.sh`)"),
                    ("`rank-table`", "the servers and devices of a job, every dialect"),
                ),
            ),
            "",
        ]
    )
