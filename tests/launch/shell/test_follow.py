"""What is known of a launch script at each command."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.check import check_script
from npu_config.launch.shell.follow import follow
from npu_config.launch.shell.syntax import ShellScript
from tests.calls import calls_of

SCRIPTS = {"env.sh": "export A=near\n", "child.sh": "export B=$1\npython3 child.py $A\n"}


def launches(text, path="launch.sh"):
    """What a script starts."""
    return follow(ShellScript(textwrap.dedent(text), path), SCRIPTS.get)[0].launches


def environments(text):
    """The variables of each command that is started."""
    return [launch.environment for launch in launches(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export A=1 B='two words'; python x.py", {"A": "1", "B": "two words"}),
        ("A=1; python x.py", {}),
        ("A=1; export A; python x.py", {"A": "1"}),
        ("set -a; A=1; python x.py", {"A": "1"}),
        ("declare -x A=1; python x.py", {"A": "1"}),
        ("A=1 python x.py", {"A": "1"}),
        ("A=1 B=2\npython x.py", {}),
        ("A=1 \\\n B=2 \\\n python x.py", {"A": "1", "B": "2"}),
        ("env -i A=1 nohup python x.py", {"A": "1"}),
        ("x=3; export A=$((x * 2 + 1)) B=${x}rd; python x.py", {"A": "7", "B": "3rd"}),
        ('export A="a\\"b$(echo c)"; python x.py', {"A": 'a"bc'}),
        ("export A=$(seq 0 3); python x.py", {"A": "0\n1\n2\n3"}),
        ('x=3; export A="  $x  ${x}  $(echo c)  $((x))"; python x.py', {"A": "  3  3  c  3"}),
        ("export A=1; A+=2; python x.py", {"A": "12"}),
        ("unset A; export B=${A:-default}; python x.py", {"B": "default"}),
        ("export B=${A:-default}; python x.py", {"B": UNKNOWN}),
        ("export A=$1 B=`hostname`; python x.py", {"A": UNKNOWN, "B": UNKNOWN}),
        ("source env.sh; python x.py", {"A": "near"}),
        ("export C=1; source other.sh; python x.py", {"C": UNKNOWN}),
        ("export C=1; source set_env.sh; python x.py", {"C": "1"}),
        ("f() { export A=$1; return; }; f 3; python x.py", {}),
        ("f() { export A=$1; }; f 3; python x.py", {"A": "3"}),
        ('f() { export A=$2; }; f "$@"; python x.py', {"A": UNKNOWN}),
        ("f() { export A=$#; }; f $@; python x.py", {"A": UNKNOWN}),
        ("f() { export A=x$2; }; f 3; python x.py", {"A": "x"}),
        ("export A=1; (export A=2); python x.py", {"A": "1"}),
        ("if [ 1 -eq 2 ]; then export A=1; else export A=2; fi; python x.py", {"A": "2"}),
        ("if foo; then export A=1; else export A=2; fi; python x.py", {"A": UNKNOWN}),
        ("if foo; then export A=1; fi; python x.py", {}),
        ("if foo; then exit; fi; export A=1; python x.py", {"A": "1"}),
        ("foo && export A=1; python x.py", {}),
        ("while foo; do export A=1; done; python x.py", {"A": UNKNOWN}),
        ("for i in *; do export A=$i; done; python x.py", {"A": UNKNOWN}),
        ("for i in 1 2; do export A=$i; break; done; python x.py", {"A": UNKNOWN}),
        ("eval foo; export A=1; python x.py", {"A": "1"}),
        ("read A; export A; python x.py", {"A": UNKNOWN}),
    ],
)
def test_environment(text, expected):
    """The variables that a command gets, with those that cannot be known."""
    assert [expected] == environments(text)


def test_rounds():
    """A loop of known rounds gives each round its own environment."""
    found = environments("for ((i=0; i<3; i++)); do RANK_ID=$i python x.py & done")
    assert [{"RANK_ID": str(number)} for number in range(3)] == found
    found = environments("for i in {2..4}; do RANK_ID=$i python x.py; done")
    assert [{"RANK_ID": str(number)} for number in range(2, 5)] == found


def test_other_scripts():
    """A script that is started gets exported variables and its arguments; it changes nothing."""
    found = launches("export A=1; C=2; bash child.sh x; python x.py")
    assert [launch.environment for launch in found] == [{"A": "1", "B": "x"}, {"A": "1"}]
    assert [launch.arguments for launch in found] == [("1",), ()]


def test_a_script_by_its_name_alone():
    """Bash looks for a command without "/" along PATH, and not beside the script."""
    assert [one.script for one in launches("child.sh x; python x.py")] == ["x.py"]


def test_a_script_that_starts_itself_ends():
    """Scripts that start each other are followed once."""
    assert (
        len(
            follow(ShellScript("bash a.sh\npython x.py\n", "a.sh"), lambda _: "bash a.sh")[
                0
            ].launches
        )
        == 1
    )


def test_scripts_that_read_others():
    """Sixteen of them, one within the other, are followed."""

    def load(path):
        number = int(path.rpartition("/")[2][:-3])
        return ". ./{}.sh; export A{}=1".format(number + 1, number)

    (launch,) = follow(ShellScript(". 1.sh; python3 x.py", "0.sh"), load)[0].launches
    assert {"A{}".format(number) for number in range(1, 17)} == set(launch.variables)


def test_a_table_beside_the_script(tmp_path, monkeypatch):
    """A relative path is looked for beside the script, then from here; others as they stand."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    for name in ("jobs/beside.json", "here.json"):
        (tmp_path / name).write_text("{}")
    read = []
    for path in (
        *("beside.json", "here.json", "none.json"),
        *(str(tmp_path / name) for name in ("here.json", "beside.json", "jobs/beside.json")),
    ):
        text = "RANK_TABLE_FILE={} RANK_ID=0 RANK_SIZE=1 python3 x.py\n".format(path)
        found, _ = check_script(text, "jobs/run.sh")
        read.append([each.rule for each in found] == ["NPU622"])
    assert read == [True, True, False, True, False, True]


@pytest.mark.parametrize(
    ("command", "rules"),
    [("python3 a.py", {"NPU672", "NPU678"}), ("mpirun -np 8 python3 a.py", set())],
)
def test_what_a_starter_may_add(command, rules):
    """Of what ``mpirun`` starts it is not known which variables are missing."""
    text = "unset JOB_ID RANK_ID\nexport RANK_SIZE=8 RANK_TABLE_FILE=/t.json\n" + command + "\n"
    assert rules == {each.rule for each in check_script(text, "a.sh")[0]}


@pytest.mark.parametrize(
    ("command", "kind", "script"),
    [
        ("python3.7 -u a.py --b", "python", "a.py"),
        ("/usr/bin/python3 -W ignore a.py", "python", "a.py"),
        ("python -m pkg.train", "python", "pkg/train.py"),
        (
            "python -m torch.distributed.run -m pkg.train x",
            "python -m torch.distributed.run",
            "pkg/train.py",
        ),
        ("accelerate launch --num_processes 8 a.py", "accelerate", "a.py"),
        ("msrun --worker_num=8 a.py --x b.py", "msrun", "a.py"),
        ("mpirun -np 8 python a.py", "mpirun", "a.py"),
        ("horovodrun -np 8 python a.py", "horovodrun", "a.py"),
        ("python -m torch.distributed.launch a.py", "python -m torch.distributed.launch", "a.py"),
        ("sudo -u me nice -n 5 python a.py", "python", "a.py"),
    ],
)
def test_commands(command, kind, script):
    """What is started is recognised behind the commands that stand before it."""
    assert [(kind, script)] == [(launch.kind, launch.script) for launch in launches(command)]


@pytest.mark.parametrize(
    "command",
    [
        "pip install x",
        "python -c 'x'",
        "$CMD a.py",
        "cat a.py",
        "python",
        "python -m pip install x",
    ],
)
def test_what_starts_nothing(command):
    """Other commands start no training."""
    assert launches(command) == []


WORDS = st.sampled_from(
    [
        *("if", "then", "fi", "for", "in", "do", "done", "while", "case", "esac", "function"),
        *("(", ")", "{", "}", ";;", ";", "&", "&&", "|", "$(", "$((", "))", "[[", "]]", "[", "]"),
        *("`", "'", '"', "\\", "\n", "\0", "<<E", "E", "f()", "local", "x", "eval", "source", "."),
        *("export", "unset", "A=1", "$A", "${A:-x}", "python", "a.py", "\u00e9"),
    ]
)


@given(st.lists(WORDS, max_size=40))
def test_any_text_is_followed(words):
    """No text, however broken, ends the check."""
    check_script(" ".join(words), "x.sh")


@pytest.mark.parametrize("character", ["\U000def9f", "\u4e2d", "\ud800", "\x85", "\0"])
def test_characters_that_c_does_not_know(character):
    """The scanner of the grammar never sees them, but values and places keep them."""
    for text in ("O\r{{{0}5", "{{{0}", "${{{0}", "<<{0}\n{0}\n"):
        check_script(text.format(character), "x.sh")
    if character == "\0":  # no shell has it in a value
        return
    (launch,) = launches("export A='{0}{0}'; python a.py".format(character))
    assert {"A": character * 2} == launch.environment
    assert (launch.place.line, launch.place.column) == (1, 16)


@pytest.mark.parametrize("text", ["x $(( ) ))", "$(( ))", "let ''", '. "\0"', "bash '\0.sh'"])
def test_texts_that_ended_the_check(text):
    """Arithmetic without a number, a NUL in the name of a file (Python 3.7)."""
    check_script(text, "x.sh")


@given(st.text(max_size=200))
def test_any_characters_are_followed(text):
    """No characters end the check."""
    check_script(text, None)


def steps(text):
    """How many functions are called to check a text."""
    return calls_of(lambda: check_script(text, "x.sh"))


@pytest.mark.parametrize(
    "block",
    [
        "export A{0}={0}\n",
        "if [ $x ]; then export A{0}=1; fi\n",
        "for i in 1 2 3; do export A{0}=$i; done\n",
        "f{0}() {{ export A=1; }}\nf{0}\n",
        "python3 a.py --x={0}\n",
        "(",
        "$(",
        '"$(echo ',
        "[[ $x\n",
    ],
)
def test_growth(block):
    """Four times the text takes about four times the work, not sixteen times."""
    small, large = (
        "".join(block.format(number) for number in range(count)) for count in (150, 600)
    )
    steps(small)
    assert steps(large) < 7 * steps(small) + 10_000


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ["NPU622"]),
        ("echo made > log.txt; mkdir -p out; sleep 1", ["NPU622"]),
        ("cat > ./made.json < /dev/stdin", []),
        ("python3 make.py --out made.json", []),
        ("cp other.json made.json", []),
        ("cp conf/made.json .", []),
        ("cp other.json backup.json; chmod +x a.sh; grep x y | tee log.txt", ["NPU622"]),
        ("cp -r conf/. .", []),
        ("cp $1 .", []),
        ("mv *.json .", []),
        ("cp {made,other}.json .", []),
        ("echo x | tee made.json", []),
        ("ln -s /data/made.json", []),
        ("hccl_tools --device_num 8", []),
        ("source other.sh", ["NPU784"]),
        ("x=$(python3 make.py)", []),
        ("while true; do sleep 1; done", []),
        ("cd /somewhere", []),
        ("echo '{}' > $1", []),
    ],
)
def test_a_table_that_may_be_made(before, expected):
    """A table that is missing on the host is wrong only when nothing before may have made it."""
    text = before + "\nRANK_TABLE_FILE=made.json RANK_ID=0 RANK_SIZE=1 python3 train.py\n"
    found, _ = check_script(text, "launch.sh", on_host=True)
    assert expected == [each.rule for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat > a <<E\nx $B\nE", "x 1\n"),
        ("cat <<'E' > a\nx $B\nE", "x $B\n"),
        ("cat > a <<E\nx $C\nE", UNKNOWN),
        ("\tcat > a <<-E\n\tx $B\n\ty\n\tE", "x 1\n\ty\n\t"),
        ("cat > ./a <<E\nx\nE\nsed -i s/x/y/ a", UNKNOWN),
        ("cat > a <<E\nx\nE\necho y >> a", UNKNOWN),
        ("sed s/x/y/ > a <<E\nx\nE", UNKNOWN),
        ("if foo; then cat > a <<E\nx\nE\nfi", UNKNOWN),
    ],
)
def test_texts_that_are_written(text, expected):
    """A here-document with known text makes the text of a file known, until it is changed."""
    (launch,) = launches("B=1\n" + text + "\nRANK_TABLE_FILE=a python3 x.py\n")
    assert launch.table is not None
    assert expected == launch.table.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d=(a 'b c' $((1+1))); export A=${d[1]}", "b c"),
        ("d=(a b); i=1; export A=${d[$i]}", "b"),
        ("d=(a b); i=1; export A=${d[i]}", "b"),
        ("d=(a b); export A=${d[2]}", ""),
        ("d=(a $1); export A=${d[0]}", UNKNOWN),
        ("d=(a b); d[0]=c; export A=${d[0]}", UNKNOWN),
        ("d=(a b); d+=(c); export A=${d[0]}", "a"),
        ("d=(a b); read d; export A=${d[0]}", UNKNOWN),
        ("d=(a b); d=c; export A=${d[0]}", UNKNOWN),
        ("d=([1]=a b); export A=${d[0]}", UNKNOWN),
        ("d=(a b); while foo; do d[0]=c; done; export A=${d[0]}", UNKNOWN),
        ("set -a; d=(a b); set +a; export A=${d[0]}", "a"),
        ("let A=7+1; export A", "8"),
        ('let "A = 2 * 3"; export A', "6"),
        ("A=1; let A+=1; export A", UNKNOWN),
        ("let A=$1+1; export A", UNKNOWN),
    ],
)
def test_arrays_and_let(text, expected):
    """An element of an array of known words by a known number, and a calculated number."""
    (environment,) = environments(text + "; python x.py")
    assert expected == environment["A"]


def test_all_elements():
    """A loop over an array, or over its indices."""
    for words, expected in (("${d[@]}", ["a", "b c"]), ("${!d[@]}", ["0", "1"])):
        found = environments(
            "d=(a 'b c'); for i in \"" + words + '"; do export A=$i; python x.py; done'
        )
        assert expected == [environment["A"] for environment in found]


@pytest.mark.parametrize(
    ("own", "name", "expected"),
    [
        ("sub/run.sh", "a.py", "sub/a.py"),
        ("sub/run.sh", "../b.py", "b.py"),
        ("sub/run.sh", "b.py", "b.py"),
        ("sub/run.sh", "none.py", "none.py"),
        ("sub/run.sh", "{here}/sub/a.py", "sub/a.py"),
        ("sub/run.sh", "{here}/b.py", "b.py"),
        ("sub/run.sh", "{here}/../c.py", "{here}/../c.py"),
        ("sub/run.sh", "{here}/sub/none.py", "{here}/sub/none.py"),
        ("{here}/sub/run.sh", "a.py", "{here}/sub/a.py"),
        ("{here}/sub/run.sh", "b.py", "b.py"),
        ("{here}/sub/run.sh", "{here}/sub/a.py", "{here}/sub/a.py"),
        ("{here}/sub/run.sh", "{here}/b.py", "{here}/b.py"),
        (None, "sub/a.py", "sub/a.py"),
        (None, "{here}/b.py", "{here}/b.py"),
    ],
)
def test_the_path_of_a_script_that_is_named(tmp_path, monkeypatch, own, name, expected):
    """Beside the launch script, else as it stands; absolute only where either path is."""
    here = tmp_path / "here"
    (here / "sub").mkdir(parents=True)
    for each in ("sub/a.py", "b.py", "../c.py"):
        (here / each).write_text("")
    monkeypatch.chdir(here)
    path = own and own.format(here=here)
    (launch,) = launches("python " + name.format(here=here), path)
    assert launch.script == expected.format(here=here)
