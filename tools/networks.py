"""Public networks for the NPU, each run unchanged with ``npu-config run`` and synthetic data.

``python -m tools.networks FOLDER [NAME...]`` takes the networks of tools/networks.yaml from copies
of their repositories (``FOLDER/owner/name/...``), makes their data, runs each for a few steps in a
temporary copy, and prints what came out.  Run it with the Python that has TensorFlow and what the
networks import.  The exit code is 1 when an outcome is not that of the table.
"""

import argparse
import contextlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools" / "networks.yaml"
_LOSS = re.compile(
    rb"(?:loss|cost)(?!_?scale)\w*['\"]?\s*(?:[:=]|is)?\s*\[?([-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf))",
    re.I,
)

_ERROR = re.compile(r"(?!npu-config run)[\w.]+(?:Error|Exception|Exit|Interrupt)\b")
_NPU_CONFIG = """\
import os, sys
sys.path[0] = os.path.dirname(sys.executable)
from npu_config.__main__ import main
sys.exit(main())
"""
"""The command ``npu-config``: unlike ``python -m``, it does not look into the folder it is in."""


class Network(NamedTuple):
    """A row of the table.

    Args:
        name: what it is called here.
        repository: owner/name on GitHub.
        commit: the one that was run.
        folder: the folder that is copied.
        script: the file to run, below the folder.
        idiom: how it trains.
        cwd: where it is started, below the folder.
        data: words for :mod:`tools.synthetic`, one line for each data set; paths below ``cwd``.
        before: arguments of a run of the script that prepares the data; it makes no steps.
        arguments: those of the script.
        environment: variables that its launch script sets.
        steps: session runs.
        ranks: processes of the job; 0 for a plain run.
        outcome: ``"runs"`` or ``"fails"``.
        fault: whose fault a failure is: ``"script"``, ``"dependency"``, ``"tensorflow"``
            (no such operation on a CPU) or ``"ours"``.
        reason: why it fails, or what is worth knowing.
    """

    name: str
    repository: str
    commit: str
    folder: str
    script: str
    idiom: str
    cwd: str = "."
    data: Sequence[str] = ()
    before: str = ""
    arguments: str = ""
    environment: Dict[str, str] = {}
    steps: int = 5
    ranks: int = 0
    outcome: str = "runs"
    fault: str = ""
    reason: str = ""


class Outcome(NamedTuple):
    """What a run showed: whether it trained, how many steps, the last loss, seconds, the end."""

    runs: bool
    steps: int
    loss: Optional[float]
    seconds: float
    said: str


def networks() -> List[Network]:
    """The rows of the table."""
    with TABLE.open(encoding="utf-8") as stream:
        table = yaml.safe_load(stream)
    return [Network(**{**table["defaults"], **row}) for row in table["networks"]]


def run(network: Network, root: Path, limit: float, log: Optional[Path] = None) -> Outcome:
    """Run a network in a temporary copy of its folder.

    Args:
        network: the row.
        root: the folder with the repositories.
        limit: seconds that it may take.
        log: a file for what it prints; the report of the run is put beside it.
    """
    from tools.synthetic.kinds import make

    with tempfile.TemporaryDirectory(prefix="network-") as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(str(root / network.repository / network.folder), str(copy))
        place = copy / network.cwd
        for line in network.data:
            kind, path, *values = shlex.split(line)
            make(kind, place / path, values)
        report = Path(folder) / "report.json"
        began = time.monotonic()
        options = ["--steps", str(network.steps), "--report", str(report)]
        options += ["--ranks", str(network.ranks)] if network.ranks else []
        commands = [_command(network, copy, options, network.arguments)]
        if network.before:
            commands.insert(0, _command(network, copy, [], network.before))
        for command in commands:
            printed, code = _finish(command, place, network, limit)
            if code != 0:
                break
        seconds = time.monotonic() - began
        if log is not None:
            log.write_bytes(printed)
            if report.exists():
                shutil.copy(str(report), str(log.with_suffix(".json")))
        seen = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return judge(printed, code, seen, seconds)


def _command(network: Network, copy: Path, options: List[str], arguments: str) -> List[str]:
    script = os.path.relpath(str(copy / network.script), str(copy / network.cwd))
    return [sys.executable, "-c", _NPU_CONFIG, "run", *options, script, *shlex.split(arguments)]


def _finish(
    command: List[str], place: Path, network: Network, limit: float
) -> Tuple[bytes, Optional[int]]:
    """What a command printed, and its exit code (None: it took too long)."""
    environment = {**os.environ, "HOME": str(place), "TF_CPP_MIN_LOG_LEVEL": "2"}
    environment.update(network.environment)
    given = network.environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *(str(place / each) for each in (given or "").split(":") if each)]
    )
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=str(place),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: Optional[int] = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started may live on
            process.wait()
        output.seek(0)
        return output.read(), code


def judge(printed: bytes, code: Optional[int], seen: Dict[str, Any], seconds: float) -> Outcome:
    """Whether a network trained.

    Args:
        printed: what it printed.
        code: its exit code; None when it took too long.
        seen: the report of ``npu-config run``.
        seconds: how long it took.
    """
    steps = min(
        sum(session["steps"] for session in rank.get("sessions", ()))
        for rank in seen.get("ranks", [seen])
    )
    losses = [float(text) for text in _LOSS.findall(printed)]
    loss = losses[-1] if losses else None
    lines = printed.decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if _ERROR.match(line)]
    said = "took too long" if code is None else errors[-1] if code and errors else ""
    runs = code == 0 and steps > 0 and (loss is None or math.isfinite(loss))
    return Outcome(runs, steps, loss, seconds, said)


def main() -> int:
    """Run the networks; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds the repositories: owner/name/...")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="networks; all when none is named"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds for each")
    parser.add_argument("--logs", type=Path, help="a folder for what they print")
    arguments = parser.parse_intermixed_args()
    table = networks()
    unknown = set(arguments.names) - {each.name for each in table}
    if unknown:
        parser.error("no such network: {}".format(", ".join(sorted(unknown))))
    if arguments.logs is not None:
        arguments.logs.mkdir(parents=True, exist_ok=True)
    differ = 0
    for network in table:
        if arguments.names and network.name not in arguments.names:
            continue
        log = arguments.logs and arguments.logs / (network.name + ".log")
        outcome = run(network, arguments.folder, arguments.limit, log)
        came = "runs" if outcome.runs else "fails"
        differ += came != network.outcome
        print(
            "{:24} {:6} {:4} steps  loss {:<12} {:4.0f} s  {}".format(
                network.name,
                came if came == network.outcome else came.upper(),
                outcome.steps,
                "-" if outcome.loss is None else outcome.loss,
                outcome.seconds,
                outcome.said,
            ),
            flush=True,
        )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
