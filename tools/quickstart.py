"""``make quickstart``: from nothing to a checked configuration and a trained model.

Creates ``.venv``, installs the package with its command line, checks and generates the
example configuration, shows what a broken one prints and, where a TensorFlow with
``compat.v1`` can be installed for this Python, trains under the generated ConfigProto.
"""

import os
import subprocess
import sys
import venv
from typing import List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
EXAMPLE = os.path.join("examples", "quickstart")
GENERATED = os.path.join("build", "quickstart.pbtxt")


def tensorflow_for(version: Tuple[int, int]) -> Optional[List[str]]:
    """The requirements of a TensorFlow with ``compat.v1`` for a Python version."""
    if version < (3, 7):
        return None
    if version < (3, 8):
        return ["tensorflow==1.15.5", "protobuf<3.21"]
    if version < (3, 9):
        return ["tensorflow-cpu==2.13.1"]
    if version < (3, 12):
        return ["tensorflow-cpu==2.15.1"]
    if version < (3, 14):
        return ["tensorflow-cpu>=2.20"]
    return None


def python_of_environment() -> Optional[Tuple[int, ...]]:
    """The version of Python that ``.venv`` was made with, None when there is none."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([os.path.join(BIN, "python"), "-c", code], stdout=subprocess.PIPE)
    except OSError:
        return None
    return tuple(map(int, done.stdout.split())) or None


def say(text: str) -> None:
    """A heading on the terminal."""
    print("\n\033[1m{}\033[0m".format(text) if sys.stdout.isatty() else "\n" + text, flush=True)


def run(*command: str, expect: int = 0, quiet: bool = False) -> None:
    """Show a command and run it; stop when it ends otherwise than expected."""
    shown = [os.path.basename(command[0]), *list(command[1:])]
    print("$ " + " ".join(shown), flush=True)
    done = subprocess.run(
        [os.path.join(BIN, command[0]), *list(command[1:])],
        cwd=ROOT,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.DEVNULL if quiet else None,
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0"),
    )
    if done.returncode != expect:
        sys.exit("{} ended with {}, not {}".format(shown[0], done.returncode, expect))


def install(*requirements: str) -> bool:
    """pip install into the environment; False when it cannot be done."""
    print("$ pip install " + " ".join(requirements), flush=True)
    done = subprocess.run(
        [
            os.path.join(BIN, "python"),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            *requirements,
        ],
        cwd=ROOT,
    )
    return done.returncode == 0


def main() -> int:
    """Everything in turn; returns the exit code."""
    say("1. A virtual environment in .venv with npu_config and its command line")
    if python_of_environment() != sys.version_info[:2]:
        venv.create(VENV, with_pip=True, clear=True)
    if not install(".[cli]"):
        return 1
    say("2. The example configuration is right")
    run("npu-config", "check", os.path.join(EXAMPLE, "config.yaml"))
    say("3. It becomes a ConfigProto")
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    run(
        "npu-config",
        "generate",
        os.path.join(EXAMPLE, "config.yaml"),
        "--to",
        "pbtxt",
        "-o",
        GENERATED,
        "--force",
    )
    with open(os.path.join(ROOT, GENERATED), encoding="utf-8") as stream:
        print(stream.read())
    say("4. What a broken one prints")
    run("npu-config", "check", os.path.join(EXAMPLE, "broken.yaml"), expect=1)
    say("5. Training under the generated ConfigProto")
    tensorflow = tensorflow_for(sys.version_info[:2])
    if tensorflow is None or not install(*tensorflow):
        print(
            "no TensorFlow with compat.v1 can be installed for Python {}.{}; skipped".format(
                *sys.version_info[:2]
            )
        )
    else:
        run("python", os.path.join(EXAMPLE, "train.py"), GENERATED)
    say("Next")
    print("  . {}/bin/activate".format(".venv"))
    print("  npu-config init -o my.yaml        a commented configuration to start from")
    print("  npu-config explain dump_step      all that is known of an option")
    print("  npu-config check train.py         what is wrong in a training script")
    print("  docs/getting-started.md           the first pages of the documentation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
