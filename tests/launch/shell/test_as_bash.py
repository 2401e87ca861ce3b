"""What is known of a variable is what bash gives it: both read the same lines."""

import shutil
import subprocess

import pytest

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.follow import follow
from npu_config.launch.shell.syntax import ShellScript

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not here")

# a line that begins with ? is not followed as far as its value
LINES = r"""
A=${B:-d}
B=; A=${B:-d}
B=; A=x${B-d}
B=b; A=${B:-d}
A=${B:=d}$B
: ${B:=d}; A=$B
echo ${B:=d}; A=$B
echo ${B:-d}; A=$B
B=; : ${B:=d}; A=$B
B=; : ${B=d}; A=x$B
B=b; : ${B:=d}; A=$B
A=${B:-${C:-e}}
A="${B:-two words}"
B=b; A="${B}c$B"
? B=b; A='$B'"$B"\$B
B=3; A=$((B + 1))$((B - 4))$((B * 2))
B=7; A=$((B / 2)),$((B % 2)),$((-B / 2)),$((-B % 2)),$((B / -2)),$((B % -2))
A=$((2 < 3))$((3 < 3))$((3 <= 3))$((4 <= 3))$((2 > 3))$((4 > 3))$((3 >= 3))$((2 >= 3))
A=$((2 == 3))$((3 == 3))$((3 != 3))$((2 != 3))
A=$((1 + 2 * 3)),$(((1 + 2) * 3)),$((10 - 2 - 3)),$((- 3)),$((+3))
A=$(seq 3)
A=$(seq 2 4)
A=$(seq 0 2 6)
A=$(seq 0 2 7)
A=$(seq 5 -2 1)
A=$(seq 5 -2 0)
A=x$(seq 3 1)
A=x$(seq 1 1)
A=$(echo a  b "c  d")
A=$(echo)
A=$(printf '%s-%d.' a 1 b)
A=$(printf '%s%%' a)
A=$(printf 'a\tb')
A=$(printf '%s,%i' )
A=$(dirname /a/b/c.sh)$(dirname c.sh)$(dirname /a)
A=$(basename /a/b/c.sh)$(basename c.sh)
A=$(dirname /a/b/)
A=$(basename /a/b/)
A=$(dirname /)$(basename /)
A=$(dirname a//b)
A=$(realpath -m /a/../b/./c)
A=$(cd / && pwd)
B=(a 'b c' d); A=${B[1]}${B[0]}x${B[3]}
? B=(a 'b c' d); A=${B[1+1]}
B=(a b); B+=(c); A=${B[0]}
? set -- a 'b c' d; A=$1$3$4$#
set -- a b; A=${2}${1}
f() { A=$1$#; }; f x y
f() { local A=2; }; A=1; f
? f() { A=2; return; A=3; }; f
f() { A=$1; shift; A=$A$1; }; f x y
set -- a b c; shift; A=$1$#
set -- a b c; shift 2; A=$1$#
set -- a b c; shift 4; A=$1$#
set -- a b c; shift 0; A=$1$#
? set -- a b c; shift $B$(type -t cd); A=$1$#
B=(a 'b c'); A=${#B[@]}${#B[*]}; B=(); A=$A${#B[@]}
A=${#B[@]}
? B=(''); A=${#B[@]}
B=abc; A=${#B}${#C}
? B=é; A=${#B}
set -- a b; A=${#@}${#*}${#1}
B=a.b.c; A=${B%.*},${B%%.*},${B#*.},${B##*.}
B=a.b.c; A=${B%x},${B%},${B#?},${B%??},${B##?*},${B%%*}
B=a.b.c; C=.c; A=${B%$C},${B%"$C"},${B#'a.'},${B%.b*c}
? B=a.b.c; A=${B%."$B"*}
B='a*b' C='*'; A=${B%"$C"},${B%$C},${B%%$C}
B=abcb; A=${B%b*},${B%%b*},${B#*b},${B##*b},${B##*b?},${B#a*b}
B='a b'; A=${B% *},"${B#* }"
B=a/b; A=${B%/*},${B%/}; B=; A=$A${B%a}
? B=ab; A=${B%[b]}
? B=ab; A=${B%\\b}
? A=${B%x*$(type -t cd)}
B=b; A=${B+s}${B:+t}${C+u}${C:+v}
B=; A=x${B+s}${B:+t}
B=b C=c; A=${B:+$C ${B:+e}}
B=b; A=${B?no}${B:?}
B=; A=x${B?no}
set -- a ''; A=${1+s}${2+t}${3+u},${2:+v},${3-d}${3:-e}
A=; for B in; do A=1; done
A=; for B in $C; do A=1; done
A=1; for B in; do unset A; done; A=x$A
A=1; A=2 | A=3; A=x$A
A=1; true | { A=2; A=3; }; A=x$A
A=1; echo b | read A; A=x$A
B=A; declare "$B=2"
B='A=2 C=3'; export $B; A=$A$C
A=1; export 'A=2'
? A=1; declare "A+=2"
? A=1; export "A=$(type -t cd)"
A=1; export "C=$(type -t cd)"
? A=1; export "$(type -t cd)=2"
? A=1; command export "$(type -t cd)=2"
f() { local "A=2"; }; A=1; f
? f() { local A; B=x$A; }; A=1; f; A=$B
f() { local A; A=2; }; f; A=x$A
B='a b'; A=; for C in ${B}c x$B "$B"d; do A=$A$C,; done
? B='a b'; A=; for C in ${B}"c d"; do A=$A$C,; done
? A=; for C in ${B:-"a b"}; do A=$A$C,; done
A=; for C in ${B:-a b}; do A=$A$C,; done
? A="${B:-'q'}"
A=; for B in {1..3} {a,b}c {3..1}; do A=$A$B,; done
A=; for B in {01..3} {1..5..2} {5..1..2} x{1,2}{a,b}; do A=$A$B,; done
A=; for B in {-1..1} {1} {} {a..}; do A=$A$B,; done
A=; for B in a 'b c' "d e" f\ g; do A=$A$B,; done
B='a b'; A=; for C in $B; do A=$A$C,; done
B='a b'; A=; for C in "$B"; do A=$A$C,; done
B=(a 'b c'); A=; for C in "${B[@]}"; do A=$A$C,; done
B=(a b c); A=; for C in ${!B[@]}; do A=$A$C,; done
A=; for ((i = 0; i < 3; i++)); do A=$A$i; done
A=; for ((i = 3; i > 0; i--)); do A=$A$i; done
A=; for ((i = 0; i < 3; )); do A=$A$i; ((i++)); done
? A=; for ((i = 0; ; i++)); do A=$A$i; if [ $i = 2 ]; then break; fi; done
A=$((2 * -3 * 4)),$((-2 * 3 - -4)),$((2 - -3 * -2)),$((7 / -2 * -2))
A=; for ((i = 0; i <= 6; i += 2)); do A=$A$i; done
A=0; while [ $A -lt 3 ]; do A=$((A + 1)); done
A=0; until [ $A -ge 3 ]; do A=$((A + 1)); done
A=; B=3; while ((B > 0)); do A=$A$B; ((B--)); done
A=; B=3; while (( B )); do A=$A$B; ((B -= 1)); done
A=; B=3; until [ $B -eq 0 ]; do A=$A$B; B=$[B-1]; done
A=; B=0; until [ $B -gt 2 ]; do A=$A$B; ((B = B + 1)); done
A=9; while [ 1 -eq 2 ]; do A=1; done
? A=0; while true; do A=1; break; done
? A=0; while [ $A -lt 3 ]; do A=2; break; done
A=; while read -r B C; do A=$A$C$B,; done < <(printf '1 2\n3 4 5\n')
A=; while read B; do A=$A$B; done < <(seq 1 3)
A=; while IFS=: read -r B C; do A=$A$C$B; done <<< 'a:b c'
? A=; while read B; do read C; A=$A$B$C; done < <(seq 1 4)
IFS=, read -ra B <<< '1,2,3'; A=; for C in "${B[@]}"; do A=$A$C-; done
read -ra B <<< '1 2'; A=${B[1]}
IFS= read -r A <<< 'a  b'
A=$((-3 + 5)),$((-2 * -3 - 1)),$((- (1 - 4) * 2)),$((- -3)),$((7 - -2 - 1))
B=-2; A=$((-B + 1)),$((3 -$B)),$((B * -B % 3))
B='a b,c'; A=; IFS=,; for C in $B; do A=$A$C-; done
B=a,b; IFS=,; set -- $B; A=$2-$#
B=(a,b 'c d'); A=; IFS=,; for C in ${B[@]}; do A=$A$C-; done
B=(a 'c d'); A=; for C in ${B[@]}; do A=$A$C-; done
B=(a 'c d'); IFS=,; A=; for C in "${B[*]}"; do A=$A$C-; done
set -- a 'c d'; A=; for C in $@; do A=$A$C-; done
set -- a 'c d'; A=; for C in "$@"; do A=$A$C-; done
IFS=$'\n'; A=; for C in $(printf 'a b\nc'); do A=$A$C-; done
B=a,b; IFS=,; A=$B
B=$IFS; IFS=,; IFS=$B; A=; for C in $(echo a b); do A=$A$C-; done
IFS=,; unset IFS; A=; for C in $(echo a,b c); do A=$A$C-; done
IFS=; A=; for C in $(echo a b); do A=$A$C-; done
? B=a,b; IFS=,; for A in x$B; do :; done
? IFS=$(hostname); B=a; for A in $B; do :; done
IFS=,; read -r A B <<< 'a,b'; A=$A$B
IFS=:, read -r A B C <<< 'a,b:c'; A=$A-$B-$C
IFS=', ' read -r A B C <<< 'a, b c,'; A=$A-$B-$C
IFS=, read -r A B <<< ',b,'; A=$A-$B
IFS=, read -r A B <<< 'a,b,,'; A=$A-$B
IFS=, read -r A <<< ' a, '
read -r A B <<< '  a   b  c  '; A=$A-$B-
C=1 IFS=, read -r A B <<< 'a,b'
B=1 C=2
IFS=, read -r A B <<< 'a,b'
B=1 C=2
{ A=3; }
mapfile -t B <<< "$(seq 1 3)"; A=; for C in "${B[@]}"; do A=$A$C-; done
readarray -t B < <(seq 2); A=${B[1]}${B[0]}
? mapfile B <<< 'a'; A=${B[0]}
if [ 1 -eq 1 ]; then A=y; else A=n; fi
if [ 1 -ne 1 ]; then A=y; else A=n; fi
if [ 1 -lt 1 ]; then A=y; else A=n; fi
if [ 1 -le 1 ]; then A=y; else A=n; fi
if [ 2 -gt 2 ]; then A=y; else A=n; fi
if [ 2 -ge 2 ]; then A=y; else A=n; fi
if [ a = a ]; then A=y; else A=n; fi
if [ a != a ]; then A=y; else A=n; fi
if [ "$B" = "" ]; then A=y; else A=n; fi
B=; if [ -z "$B" ]; then A=y; else A=n; fi
B=b; if [ -n "$B" ]; then A=y; else A=n; fi
B=b; if [ ! -z "$B" ]; then A=y; else A=n; fi
? if [[ a == a && b != c ]]; then A=y; else A=n; fi
? if [[ a == b || b == b ]]; then A=y; else A=n; fi
? if [[ a == b || b == c ]]; then A=y; else A=n; fi
if ((1 > 2)); then A=y; else A=n; fi
if ((2 > 1)); then A=y; else A=n; fi
? if false; then A=y; elif true; then A=z; else A=n; fi
? case b in a) A=1 ;; b) A=2 ;; *) A=3 ;; esac
? case c in a | c) A=1 ;; *) A=3 ;; esac
? case d in a) A=1 ;; *) A=3 ;; esac
A=1; [ 1 -eq 1 ] && A=2
A=1; [ 1 -eq 2 ] && A=2
A=1; [ 1 -eq 1 ] || A=2
A=1; [ 1 -eq 2 ] || A=2
A=1; (A=2)
A=1; { A=2; }
A=1; A+=2
A=1; unset A; A=x$A
A=1; B=A; export $B=2
? A=1; let A=A+2
read A <<< 'a b'
A=$(cat <<E
a
E
)
eval 'A=1'
eval "A=\$((1 + 1))"
B='A=3'; eval $B
declare -i A=3; A=$A
readonly A=4
A=5 true; A=x$A
shopt -s expand_aliases; alias p='read -r'; eval 'p A <<< b'
alias p='read -r'; A=1; eval 'p A <<< b' 2>/dev/null || true; A=x$A
shopt -s expand_aliases; alias p=true; unalias p; A=1; A=x$A
? A=1; [ -d / ] || A=2
A=; [ -d / ] || B=2; A=1
A=1 B=2 >&2; A=$A$B
true && A=2 2>&1 | cat; A=x$A
A=1; A=2 & wait; A=x$A
? A=~/x
? A=a:~
A='~/x'
A="~":x
? if [ -d / ]; then f() { A=1; }; else f() { A=2; }; fi; f
f() { A=$2; }; f $C b; A=x$A
? f() { A=$2; }; f $(type -t cd) b
? set -- $(type -t cd) b; A=$2
set a b; A=$2$#
f() { B=$A; }; A=5 f; A=$B-$A
A=\ x
set -- a b; A=; for i do A=$A$i; done
B=1; if ((B++)); then :; fi; A=$B
? B=1; ((++B)); A=$B
A=1; for ((i = $((((1))*1)); i < 2; i++)); do :; done
""".strip("\n")


def snippets():
    """Each with all of its lines."""
    found = []
    for line in LINES.split("\n"):
        if found and (
            ("<<E" in found[-1] and not found[-1].endswith("\n)")) or found[-1].endswith("B=1 C=2")
        ):
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


@pytest.fixture(scope="module")
def in_bash(tmp_path_factory):
    """What A is behind each snippet; one process for all."""
    body = "(unset A B C i\n{}\nprintf '\\0%s\\0' \"$A\"\n)"
    script = "\n".join(body.format(each.lstrip("? ")) for each in snippets())
    folder = tmp_path_factory.mktemp("bash")
    out = subprocess.check_output([BASH, "--norc", "-c", script], cwd=str(folder))
    return dict(zip(snippets(), out.decode("utf-8").split("\0")[1::2]))


@pytest.mark.parametrize("text", snippets())
def test_a_value_is_that_of_bash(in_bash, text):
    """No value is known that bash does not give, and those that are followed are known."""
    script = "unset A B C i\n{}\nexport A\npython3 x.py\n".format(text.lstrip("? "))
    launches = follow(ShellScript(script, "a.sh"), lambda path: None)[0].launches
    found = launches[-1].environment.get("A", UNKNOWN)
    assert (UNKNOWN if text.startswith("?") else in_bash[text]) == found


TOGETHER = r"""
export A=1
if [[ $1 == --help || $1 == -h ]];then
    echo "options:
    "
fi
for each in $*
do
    if [[ $each == --mode* ]];then
        mode=`echo ${each#*=}`
    fi
done
# the grammar fails on all of this together, and on no command of it alone
last=` awk 'END {print}'  $B/b.txt `
python3 x.py
"""


def test_commands_that_are_understood_alone():
    """Each is read, with its place, and so are the comments between them."""
    script = ShellScript(TOGETHER, "a.sh")
    (launch,) = follow(script, lambda path: None)[0].launches
    assert launch.environment.get("A") == "1"
    assert launch.spot[1] == TOGETHER.index("python3")
    ((begin, end),) = script.comments()
    assert TOGETHER[begin:end].startswith("# the grammar")
    assert TOGETHER[end] == "\n"
