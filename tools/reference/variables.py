"""Every environment variable that is known, by who reads it."""

from npu_config.launch.environment.variables import VARIABLES
from tools.reference.markdown import NOTE, table


def render() -> str:
    """The page."""
    lines = [
        NOTE,
        "# Environment variables\n",
        (
            "What the processes of a job read. `npu-config env` writes them for a job and checks "
            "a file of them, `npu-config check` a launch script. The guide is "
            "[rank tables and launch](../distributed.md).\n"
        ),
    ]
    for variable in VARIABLES.values():
        rows = [
            ("takes", variable.kind.describe()),
            ("unit", variable.unit),
            ("default", variable.default),
            ("read by", ", ".join(variable.read_by)),
            (
                "products",
                "all"
                if variable.products is None
                else ", ".join(sorted(product.value for product in variable.products)),
            ),
            ("a bad value", variable.consequence),
            ("vendor's page", variable.page and "`{}`".format(variable.page)),
        ]
        lines += [
            "## {}\n".format(variable.name),
            variable.meaning[:1].upper() + variable.meaning[1:] + ".\n",
            table(("", ""), [(name, text) for name, text in rows if text]),
            "",
        ]
        lines += ["- {}".format(text) for text in variable.interactions]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
