"""Scripts run as ``python`` runs them: names, arguments, exit codes, output, tracebacks."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("click")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


PROCESS = """
import multiprocessing

def show(x):
    print(x)

if __name__ == "__main__":
    process = multiprocessing.Process(target=show, args=(1,))
    process.start()
    process.join()
"""


def outcome(arguments, folder):
    """Exit code, output, errors of a Python process."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=str(folder),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RANK_ID": "0"},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def both(tmp_path, text, *arguments):
    """What ``python`` and what ``npu-config run`` do with a script."""
    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    theirs = outcome(["train.py", *arguments], tmp_path)
    ours = outcome(["-m", "npu_config", "run", "train.py", *arguments], tmp_path)
    return theirs, (*ours[:2], re.sub(r"npu-config run: [^\n]*\n", "", ours[2]))


@pytest.mark.parametrize(
    "text",
    [
        "import sys; print(sys.argv, __name__, __file__, sys.path[0] != '')",
        "import sys; sys.exit()",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('text')",
        "def f():\n    1 / 0\nf()",
        "raise KeyError('x') from ValueError('y')",
        "x = )",
        "import os; os.chdir('/'); print(os.getcwd())",
        "import __main__; print(__main__.__file__); x = 3; print(__main__.x)",
        PROCESS,
        "import warnings; print('before'); warnings.warn('careful')",
        "print(sorted(k for k in globals() if k[:2] == '__' and k != '__annotations__'))",
        "import sys; sys.modules['tensorflow'] = None\ndef f():\n    import tensorflow\nf()",
    ],
)
def test_like_python(tmp_path, text):
    """Exit code, output and errors are those of ``python SCRIPT``."""
    theirs, ours = both(tmp_path, text, "--a", "-b", "c d")
    assert theirs == ours


def test_threads_that_are_left(tmp_path):
    """They are waited for; they and functions for the end find modules, names and the script."""
    text = """
        import atexit, sys, threading, time
        from concurrent.futures import ThreadPoolExecutor
        def late(name):
            time.sleep(0.3)
            import npu_bridge.estimator.npu
            known = sys.modules["__main__"].K if name == "thread" else ""
            sys.stdout.write("{} {}\\n".format(name, known))
        threading.Thread(target=late, args=("thread",)).start()
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        atexit.register(late, "exit")
        K = 5
        if "pool" in sys.argv:
            ThreadPoolExecutor(1).submit(late, "pool")
        sys.exit(3)
    """
    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    for arguments, lines in (([], ["thread 5"]), (["pool"], ["pool ", "thread 5"])):
        code, output, errors = outcome(
            ["-m", "npu_config", "run", "train.py", *arguments], tmp_path
        )
        assert (code, "Traceback" in errors) == (3, False), errors
        *found, last = output.splitlines()
        assert (sorted(found), last) == (lines, "exit ")


def test_a_directory(tmp_path):
    """One with a ``__main__.py`` is run as ``python`` runs it, under the name that was given."""
    (tmp_path / "job").mkdir()
    text = "import sys, other; print(sys.argv, __name__, __file__)"
    (tmp_path / "job" / "__main__.py").write_text(text, encoding="utf-8")
    (tmp_path / "job" / "other.py").write_text("", encoding="utf-8")
    theirs = outcome(["job", "-x", "y"], tmp_path)
    assert theirs[0] == 0, theirs[2]
    assert outcome(["-m", "npu_config", "run", "job", "-x", "y"], tmp_path)[:2] == theirs[:2]


@pytest.mark.parametrize("options", [[], ["--ranks", "2"]])
def test_a_directory_without_a_script(tmp_path, options):
    """It is there and cannot be run: exit code 1, as for any file that cannot be read."""
    code, output, errors = outcome(["-m", "npu_config", "run", *options, "."], tmp_path)
    assert (code, output) == (1, "")
    assert "without __main__.py" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "does not exist"),
        (["--steps", "0", "x.py"], "Invalid value"),
        (["--loops", "twice", "x.py"], "Invalid value"),
        (["--report", "there.json", "x.py"], "there.json exists"),
        (["--report", "nowhere/r.json", "x.py"], "cannot be written"),
        (["--step", "3", "x.py"], "--steps"),
        (["--format", "json", "x.py"], "--format requires --dry-run"),
        (["--format=yaml", "--ranks", "2", "x.py"], "--format requires --dry-run"),
        (["start.sh"], "start.sh is a shell script"),
        (["start"], "start is a shell script"),
        (["--lang", "zh", "missing.py"], "missing.py 不存在"),
    ],
)
def test_wrong_calls(tmp_path, arguments, message):
    """A call that cannot work ends with 2 and says why, before anything runs."""
    (tmp_path / "x.py").write_text("print('ran')", encoding="utf-8")
    (tmp_path / "there.json").write_text("{}", encoding="utf-8")
    for name, first in (("start.sh", ""), ("start", "#!/usr/bin/env bash\n")):
        (tmp_path / name).write_text(first + "export RANK_ID=0\n", encoding="utf-8")
    code, output, errors = outcome(["-m", "npu_config", "run", *arguments], tmp_path)
    assert (code, output) == (2, "")
    assert message in errors
    assert "Traceback" not in errors


def test_the_report_stays_where_it_was_asked_for(tmp_path):
    """A script that changes the directory does not take the report with it."""
    (tmp_path / "train.py").write_text("import os; os.mkdir('x'); os.chdir('x')")
    code, _, errors = outcome(
        ["-m", "npu_config", "run", "--report", "r.json", "train.py"], tmp_path
    )
    assert code == 0, errors
    assert (tmp_path / "r.json").is_file()


def test_processes_of_the_script(tmp_path):
    """A process that the script starts finds the served modules, too."""
    text = """
        import subprocess, sys
        code = "import npu_bridge.estimator.npu; import hccl; print(npu_bridge.__spec__.origin)"
        print(subprocess.check_output([sys.executable, "-c", code]).decode())
    """
    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    code, output, errors = outcome(["-m", "npu_config", "run", "train.py"], tmp_path)
    assert code == 0, errors
    assert os.path.join("runner", "shim", "npu_bridge") in output


def test_tensorflow_is_missing(tmp_path):
    """The traceback is the script's, also through a served module, and a line says what to do."""
    text = "import sys; sys.modules['tensorflow'] = None\nfrom npu_bridge.npu_init import *\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    code, output, errors = outcome(["-m", "npu_config", "run", "train.py"], tmp_path)
    assert (code, output) == (1, "")
    *places, error, advice, last = [line for line in errors.splitlines() if "one rank" not in line]
    assert [line.split(", in")[0] for line in places if "File" in line] == [
        '  File "{}", line 2'.format(
            tmp_path / "train.py" if sys.version_info >= (3, 9) else "train.py"
        )
    ]
    assert error.startswith("ModuleNotFoundError")
    assert "pip install" in advice
    assert "train.py:2 failed (exit code 1: TensorFlowMissingError: npu_config.tf1 needs" in last


def test_horovod_is_missing(tmp_path):
    """A script that was not migrated is told how."""
    text = "import horovod.tensorflow as hvd\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    code, output, errors = outcome(["-m", "npu_config", "run", "train.py"], tmp_path)
    assert (code, output) == (1, "")
    assert "npu-config migrate train.py replaces it\n" in errors


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(tmp_path, method):
    """They find the served modules, however they are started."""
    text = """
        import multiprocessing
        def show():
            import npu_bridge.estimator.npu
            print("found", flush=True)
        if __name__ == "__main__":
            process = multiprocessing.get_context({!r}).Process(target=show)
            process.start()
            process.join()
    """
    script = textwrap.dedent(text.format(method))
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    code, output, errors = outcome(["-m", "npu_config", "run", "train.py"], tmp_path)
    assert (code, output) == (0, "found\n"), errors


@pytest.mark.parametrize(
    "text",
    [
        "from npu_config import settings; print(settings(3))",
        "import npu_config; print(npu_config.settings(4))",
        "from npu_config import *; print(settings(5))",
        "import npu_config\nimport npu_bridge.estimator.npu\nprint(npu_config.settings(6))",
        "def f():\n    from npu_config import missing\nf()",
    ],
)
def test_a_module_of_the_script_with_our_name(tmp_path, text):
    """A script beside which its own ``npu_config.py`` lies imports that one."""
    (tmp_path / "npu_config.py").write_text("def settings(n):\n    return 'own', n\n")
    script = tmp_path / "train.py"
    script.write_text(text, encoding="utf-8")
    command = "import sys; del sys.path[0]; from npu_config.__main__ import main; sys.exit(main())"
    code, output, errors = outcome(["-c", command, "run", "train.py"], tmp_path)
    if "missing" in text:
        assert code == 1
        assert "cannot import name 'missing'" in errors
    else:
        assert (code, errors[:14]) == (0, "npu-config run"), errors
        assert output.startswith("('own', ")


def test_our_names_stay_beside_a_namesake(tmp_path):
    """What the script's module lacks is this package's; undone, only this package is left."""
    import npu_config
    from npu_config.runner import run

    (tmp_path / "npu_config.py").write_text("x = 1\nraise_when_run = 1 / 0\n")
    undo = run.share(str(tmp_path))
    both = sys.modules["npu_config"]
    try:
        assert both is not npu_config
        assert both.check is npu_config.check
        with pytest.raises(ZeroDivisionError):
            both.x  # noqa: B018
    finally:
        undo()
    assert sys.modules["npu_config"] is npu_config
    assert run.share(str(tmp_path / "nowhere"))() is None


@pytest.mark.parametrize(("trains", "shown"), [(False, []), (True, ["NPU801"])])
def test_findings_of_a_session_without_the_optimizer(trains, shown):
    """One that trains lacks NpuOptimizer, which is the one thing to say; another may be right."""
    from npu_config.core.diagnostics import Place
    from npu_config.proto import decode, parse_text
    from npu_config.rules.case import judge
    from npu_config.runner.calls import Calls
    from npu_config.runner.sessions import SeenSession

    found = tuple(judge(decode(parse_text("allow_soft_placement: true"))))
    calls = Calls(None, lambda path: True)
    session = SeenSession(Place("train.py", 3), {}, found, calls, trains=trains)
    assert shown == [each.rule for each in session.of_the_npu]
