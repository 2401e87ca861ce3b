"""What is known of launch scripts, word for word: ``outcomes/*.txt``.

A case of several lines that are scripts of their own has ``lines`` in the name of its file.
What each starts stands behind ``=>``: its kind, the script with its arguments, its variables
(``?`` is not known, behind ``~`` stand values on some paths), those that certainly are not set
behind ``-`` (``-*``: all of the NPU), and what else is known.
"""

import os
from pathlib import Path

from npu_config.core.settings import UNKNOWN
from npu_config.launch.environment.variables import VARIABLES
from npu_config.launch.shell.follow import follow
from npu_config.launch.shell.syntax import ShellScript
from tests import golden

NEAR = {
    "env.sh": "export A=near\nreturn\nexport A=far\n",
    "child.sh": 'export B=$1\npython child.py "$@"\n',
    "loop.sh": "bash loop.sh\npython loop.py\n",
    "vars.env": "A=1\n# B=2\nRANK_ID='3' \n=4\nC\n",
}
"""The files beside each script."""


def near(path):
    """The text of a file."""
    return NEAR.get(os.path.normpath(path))


def shown(value):
    """A value; ``?`` for one that is not known."""
    return "?" if value is UNKNOWN else value if value.isalnum() else repr(value)


def line_of(launch):
    """A command that is started."""
    words = [launch.kind, str(launch.script), *map(shown, launch.arguments)]
    words += ["{}={}".format(name, shown(one.value)) for name, one in launch.variables.items()]
    is_bare = launch.unset.union(launch.variables).issuperset(VARIABLES)
    words += ["-*"] if is_bare else ["-" + name for name in sorted(launch.unset)]
    for name, one in sorted(launch.doubtful.items()):
        maybe = "|".join(shown(value) for value, _ in one.maybe)
        words.append("{}~{}".format(name, maybe))
    if launch.process is not None:
        words.append("process {} {}".format(*launch.process))
    if launch.copies > 1:
        words.append("{} times".format(launch.copies))
    if launch.table is not None:
        words.append("table {}".format(shown(launch.table.value)))
    if "RANK_TABLE_FILE" in launch.variables and launch.made:
        words.append("made")
    words.append(launch.framework or "")
    return " ".join(filter(None, words))


def outcome_of(source):
    """What is known of a script: what it starts, what is not followed, and what is wrong."""
    run, _ = follow(ShellScript(source, "launch.sh"), near)
    lines = [line_of(launch) for launch in run.launches]
    lines += ["{}: {}".format(place.line, text) for place, text in run.notes.items()]
    lines += ["{}: {}".format(place.line, one.message) for place, one in run.faults.items()]
    return [line.replace(os.getcwd(), ".") for line in lines]


@golden.claims(Path(__file__).parent / "outcomes")
def test_outcome(path, case, tmp_path, monkeypatch):
    """What is known of the script, or of each line, is what stands behind it."""
    monkeypatch.chdir(tmp_path)
    if path.stem.endswith("lines"):
        lines = [" ; ".join(outcome_of(line)) for line in case["source"].splitlines()]
    else:
        lines = outcome_of(case["source"])
    golden.hold(path, case, "".join(line + "\n" for line in lines))
