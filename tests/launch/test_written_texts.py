"""Texts that come from outside reach the processes as they were given, whatever they hold."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import npu_config as npu_config_package
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.versions import Product
from npu_config.launch import chief_job
from npu_config.launch.engines import (
    kubernetes_objects,
    kubernetes_yaml,
    launcher_script,
    slurm_script,
)
from npu_config.launch.environment.dotenv import NAME, parse_dotenv, render_dotenv
from npu_config.text.plain_text import is_plain_yaml
from npu_config.writers import scalar
from tests import golden
from tests.forks import ended

ROOT = os.path.dirname(os.path.dirname(npu_config_package.__file__))
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="the scripts are for bash")

TEXTS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))
NUMBERS = (
    "1e-4", "1e5", "0o14", "014", "0x1F", "0b11", "1_000", "12:30:45", ".5", "+1", "-", "1.", "~",
    ".inf", "-.Inf", ".NaN", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "yes", "No", "ON",
    "off", "y", "N", "true", "NULL", "=", "<<", "null", "", " ", "#", "- a", "a: b", "a #b", "---",
    "...", "!x", "&a", "*a", "|", ">", "%x", "@x", "`x", "[", "{", "?", ":", ",", "\ufeff", "\x85",
    "\u2028", "a\r\nb", "a\tb", "\n", "\n x", "x\n\n", "  x\ny", "$(JOB_ID)", "$$(JOB_ID)", "$$",
    "'", '"', "\\", "é", "\U0001f600",
)  # fmt: skip
"""What some reader of YAML, or Kubernetes itself, takes for something else."""

CORE = re.compile(
    r"(~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    r"|)\Z"
)
"""What is no text in the core schema of YAML 1.2.  Source: yaml.org/spec/1.2.2, 10.3.2."""
OLD = yaml.resolver.Resolver.yaml_implicit_resolvers
"""By first character, the types of YAML 1.1 that its repository names, as PyYAML knows them."""
OLD_WORDS = ("y", "Y", "n", "N")
"""Truth values of YAML 1.1 that PyYAML leaves texts; readers in Java and Go do not."""


def means_a_text(word):
    """True when readers of every version take a scalar without quotes for a text."""
    old = [rule for first in (word[:1], None) for _, rule in OLD.get(first, ())]
    return not (CORE.match(word) or word in OLD_WORDS or any(rule.match(word) for rule in old))


def plain_scalars(text):
    """The scalars of a YAML text that stand without quotes."""
    for token in yaml.scan(text):
        if isinstance(token, yaml.ScalarToken) and token.plain:
            yield token.value


def expanded(text, variables):
    """What Kubernetes makes of a text of a container."""

    def meant(match):
        return "$" if match.group(1) == "$" else variables.get(match.group(2), match.group(0))

    return re.sub(r"\$(\$|\(([^)]*)\))", meant, text)


def container(command, value):
    """The container of a Kubernetes job with this command and this value of a variable."""
    text = kubernetes_yaml(
        kubernetes_objects(
            "resnet", 2, 8, "tf:1", command, Product.ATLAS_A2, {"GIVEN": value}
        )
    )  # fmt: skip
    *_, job = yaml.safe_load_all(text)
    return text, job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]


@settings(max_examples=golden.tries(60))
@given(st.lists(st.one_of(st.sampled_from(NUMBERS), TEXTS), min_size=1), TEXTS)
@example(list(NUMBERS), "1e5")
def test_kubernetes_gets_texts(command, value):
    """Every word and every value is a text to every reader of YAML, and arrives as given."""
    text, found = container(command, value)
    numbers = {"1", "2", "8", "true"}  # of the job itself: replicas, devices, readOnly
    assert {word for word in plain_scalars(text) if not means_a_text(word)} <= numbers
    known = {each["name"]: each.get("value", "") for each in found["env"]}
    assert [expanded(word, known) for word in found["command"][2:]] == command
    assert expanded(known["GIVEN"], known) == value


@given(st.one_of(st.sampled_from(NUMBERS), TEXTS))
def test_scalars_of_a_configuration(text):
    """The same of the writer of YAML configurations."""
    written = scalar(text)
    assert yaml.safe_load(written) == text
    assert is_plain_yaml(text) == (written == text)
    assert not is_plain_yaml(text) or means_a_text(text)


def test_kubernetes_refuses_bytes():
    """YAML holds text only."""
    with pytest.raises(NpuConfigError, match="is not UTF-8"):
        container(["python3", os.fsdecode(b"\xff.py")], "")


def npu_config(folder, *arguments):
    """The command, in a copy of this process: its code, output and errors."""
    before = os.getcwd()
    os.chdir(str(folder))
    try:
        return ended(arguments, {})
    finally:
        os.chdir(before)


JOB = ("env", "--worker", "10.0.0.1", "--devices", "1", "--job-id")


def test_the_command_quotes_numbers(tmp_path):
    """What the command writes for Kubernetes holds them as texts."""
    more = ("--to", "kubernetes", "--image", "tf:1", "--target", "atlas_a2", "--set", "RATE=1e-4")
    code, text, errors = npu_config(tmp_path, *JOB, "a", *more, "--", "x", "1e5", "0o14")
    assert (code, errors) == (0, "")
    assert all('"{}"'.format(word) in text for word in ("1e-4", "1e5", "0o14"))


STAND_INS = {
    "srun": 'while [ "${1#--}" != "$1" ]; do shift; done; SLURM_LOCALID=0 exec "$@"',
    "scontrol": "echo node",
    "hostname": "echo 10.0.0.1",
}


def run_in_bash(folder, text):
    """A script, with stand-ins for what starts processes on other machines: code and output."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, body in STAND_INS.items():
        (tools / name).write_text("#!/bin/bash\n{}\n".format(body))
        (tools / name).chmod(0o755)
    path = folder / "script"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    environ = dict(os.environ, SLURM_NTASKS="1", SLURM_JOB_NODELIST="x", NPU_LAUNCH_LOGS="logs")
    environ["PATH"] = "{}{}{}".format(tools, os.pathsep, environ["PATH"])
    done = subprocess.run([BASH, str(path)], cwd=str(folder), env=environ, capture_output=True)
    return done.returncode, done.stdout


EVIL = (
    "j\ntouch PWNED #.sbatch", "j\r\ntouch PWNED", "j\x85touch PWNED", "$(touch PWNED)",
    "`touch PWNED`", "'; touch PWNED #", "j\n#SBATCH --wrap=x", "\ufeffj", "é j",
)  # fmt: skip


@needs_bash
@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize("form", ["slurm", "launcher"])
def test_names_are_no_commands(tmp_path, form, name):
    """The names of the output and of the job are comments and texts: nothing of them is run."""
    arguments = (*JOB, name, "--to", form, "-o", name)
    assert npu_config(tmp_path, *arguments, "--", "printenv", "JOB_ID")[0] == 0
    (path,) = [each for each in tmp_path.iterdir() if each.is_file()]
    text = path.read_bytes().decode("utf-8")
    head = text[: text.index("set -")].splitlines()
    assert [line for line in head if not line.startswith("#")] == []
    assert sum(line.startswith("#SBATCH") for line in head) == (5 if form == "slurm" else 0)
    code, output = run_in_bash(tmp_path, text)
    logs = tmp_path / "logs" / "rank_0.log"
    assert code == 0
    assert (logs.read_bytes() if logs.exists() else output).decode() == name + "\n"
    assert not (tmp_path / "PWNED").exists()


@needs_bash
@settings(max_examples=golden.tries(40), deadline=None)
@given(TEXTS, st.text(st.characters(blacklist_characters="\0/", blacklist_categories=["Cs"])))
def test_any_name_in_a_script(tmp_path_factory, value, name):
    """Names and values of any characters leave one comment, and the value arrives."""
    job = chief_job(["10.0.0.1"], "resnet", devices=[0], extra={"GIVEN": value})
    for write in (
        lambda: slurm_script(job, ["printenv", "GIVEN"], name),
        lambda: launcher_script(job, job.processes, ["printenv", "GIVEN"], (), name),
    ):
        folder = tmp_path_factory.mktemp("any")
        code, output = run_in_bash(folder, write())
        logs = folder / "logs" / "rank_0.log"
        assert code == 0
        assert (logs.read_bytes() if logs.exists() else output).decode() == value + "\n"


# Files of variables

SHOW = "import json, os; print(json.dumps({k: v for k, v in os.environ.items() if k[:2] == 'V_'}))"


@needs_bash
@settings(max_examples=golden.tries(60), deadline=None)
@given(st.lists(TEXTS, max_size=8))
@example(["a\nb", "a\tb", "a\rb", "a\r\n", "\n", "a\\nb", "a\\\nb", "$(id)`id`$HOME", "!x", "'"])
def test_bash_reads_a_file_of_variables(tmp_path_factory, values):
    """A shell that sources it has exactly the values, and so has our own reader."""
    variables = {"V_{}".format(number): value for number, value in enumerate(values)}
    text = render_dotenv(variables)
    assert all(NAME.match(name) for name in variables)
    assert parse_dotenv(text).variables == variables
    path = tmp_path_factory.mktemp("dotenv") / "x.env"
    path.write_bytes(text.encode("utf-8"))
    script = 'set -a; . "$0"; exec "$1" -c "$2"'
    out = subprocess.check_output([BASH, "-c", script, str(path), sys.executable, SHOW])
    assert json.loads(out.decode()) == variables


@needs_bash
def test_the_command_writes_what_bash_reads(tmp_path):
    """A line end in a value of `--set` is one for bash."""
    more = ("--rank", "0", "--set", "V_1=a\nb", "--to", "dotenv", "-o", "x.env")
    assert npu_config(tmp_path, *JOB, "a", *more)[0] == 0
    out = subprocess.check_output([BASH, "-c", '. ./x.env; printf %s "$V_1"'], cwd=str(tmp_path))
    assert out == b"a\nb"
    assert npu_config(tmp_path, "env", "--check", "x.env")[0] == 0
