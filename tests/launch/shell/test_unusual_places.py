"""Where a launch script sets variables in places that people seldom think of: found, or said."""

import contextlib
import io
import json

import pytest

pytest.importorskip("click")

from npu_config.__main__ import main

A = "HCCL_CONNECT_TIMEOUT=abc"
RUN = "python3 train.py\n"

FOUND = {
    "local": "f() { local x=1; export " + A + "; " + RUN + "}\nf\n",
    "eval": 'V=HCCL_CONNECT_TIMEOUT\neval "export $V=abc"\n' + RUN,
    "typeset": "typeset -x " + A + "\n" + RUN,
    "sudo": "sudo -E " + A + " " + RUN,
    "xargs": "export " + A + "\nseq 0 7 | xargs -I{} -P8 env ASCEND_DEVICE_ID={} " + RUN,
    "parallel": "parallel '" + A + " ASCEND_DEVICE_ID={} python3 train.py' ::: 0 1\n",
    "tabs": "bash <<-EOF\n\texport " + A + "\n\t" + RUN + "\tEOF\n",
    "array": "o=(-e " + A + ")\no+=(--rm)\ndocker run ${o[@]} img " + RUN,
    "split": 'O="-e ' + A + ' --rm"\ndocker run $O img ' + RUN,
    "file": "set -a\n. ./plain.env\nset +a\n" + RUN,
    "printed": 'echo "export ' + A + '" > e.sh\necho "x=0" >> e.sh\nsource e.sh\n' + RUN,
    "tmux": "tmux new-session -d 'export " + A + "; python3 train.py'\n",
    "su": "su - hw -c 'export " + A + "; python3 train.py'\n",
    "kubectl": "kubectl exec pod -- bash -c 'export " + A + "; python3 train.py'\n",
    "sbatch": "sbatch <<EOF\n#!/bin/bash\n#SBATCH --export=ALL," + A + "\nsrun " + RUN + "EOF\n",
    "wrap": "sbatch --export=ALL," + A + ' --wrap "python3 train.py"\n',
    "pipe": "cat <<EOF | bash\nexport " + A + "\n" + RUN + "EOF\n",
    "words": "env -S '" + A + " python3 train.py'\n",
    "emptied": "env -i PATH=$PATH " + A + " " + RUN,
    "program": A + " ./train_binary\n",
    "quotes": "bash -c \"bash -c 'export " + A + "; python3 train.py'\"\n",
    "sourced": "export " + A + "\nsource $MINE/job.env\n" + RUN,
    "joined": "export " + A + "\nexport PYTHONPATH=$A/x:$B/y:$C/z\n" + RUN,
    "starter": "export " + A + "\nmpirun -np 8 python3 train.py\n",
    "group": "{ export " + A + "; " + RUN + "} 2>&1 | tee log\n",
}

SAID = {
    "argument": 'export X=1800\neval "$1"\n' + RUN,
    "trap": "trap 'export " + A + "' EXIT\n" + RUN,
    "uncalled": "setup() { export " + A + "; }\n" + RUN,
    "alias": "alias run='" + A + " python3 train.py'\nrun\n",
    "names": "export $(cat plain.env | xargs)\n" + RUN,
    "lines": 'while IFS== read -r k v; do export "$k"="$v"; done < plain.env\n' + RUN,
    "python": "python3 <<'E'\nprint 'x'\nos.environ['HCCL_CONNECT_TIMEOUT'] = 'a'\nE\n" + RUN,
    "make": "cat > Makefile <<EOF\nrun:\n\t" + A + " python3 train.py\nEOF\nmake\n",
    "missing": "source ./missing.sh\n" + RUN,
    "option": "docker run --env-file missing.env img " + RUN,
}

FINE = {
    "own": "export HCCL_CONNECT_TIMEOUT=1800\nf() { local " + A + "; }\nf\n" + RUN,
    "bashrc": 'echo "export ' + A + '" >> ~/.bashrc\n' + RUN,
    "unset": "export " + A + "\nunset HCCL_CONNECT_TIMEOUT\n" + RUN,
    "usage": 'usage() { echo "' + A + ' $0"; }\n' + RUN,
    "text": 'python3 train.py --note "' + A + '"\n',
    "inside": A + "\n" + RUN,
    "toolchain": "export HCCL_CONNECT_TIMEOUT=1800\nsource $ASCEND/set_env.sh\n" + RUN,
    "names": 'IFS=, read -ra D <<< "0,1"\nexport ASCEND_DEVICE_ID=${D[0]}\n' + RUN,
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The rules of each script, and the scripts that were not checked as a whole."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "train.py").write_text("from npu_bridge.npu_init import *\n")
    (folder / "plain.env").write_text(A + "\n")
    names = []
    for kind, cases in (("found", FOUND), ("said", SAID), ("fine", FINE)):
        for name, text in cases.items():
            names.append(str(folder / "{}-{}.sh".format(kind, name)))
            with open(names[-1], "w", encoding="utf-8") as stream:
                stream.write(text)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["check", "--notes", "--format", "json", *names])
    found = json.loads(out.getvalue())
    rules = {name: set() for name in names}
    for each in found["diagnostics"]:
        rules.setdefault(each["path"], set()).add(each["rule"])
    return {name.replace("\\", "/").rpartition("/")[2]: each for name, each in rules.items()}


def test_what_is_wrong_is_found(report):
    """The value is an error wherever it is given; that of a file, in the file."""
    silent = [name for name in FOUND if "NPU670" not in report["found-{}.sh".format(name)]]
    assert silent == ["file"]
    assert report["plain.env"] == {"NPU670"}


def test_what_is_not_followed_is_said(report):
    """The script counts as not checked, in part."""
    expected = {"said-{}.sh".format(name): {"NPU784"} for name in SAID}
    assert expected == {name: report[name] for name in expected}


def test_what_is_right_draws_nothing(report):
    """Texts that look like it set nothing."""
    expected = {"fine-{}.sh".format(name): set() for name in FINE}
    assert expected == {name: report[name] for name in expected}
