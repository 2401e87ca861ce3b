"""What bash refuses is told from what only the grammar stumbles over."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.launch.shell.syntax import ShellScript, syntax_fault

_SYNTAX = ": bash reports a syntax error"

BASH = shutil.which("bash")

TAKEN = [
    """\
f() {
  a | while read b; do
    while read c; do
      if d; then break; fi
    done
  done | sort
}
if [ $e -gt 1 ]; then
  echo "`g 'later, run'`" "'h'."
  for i in $e; do
    if [ $i = x ]; then
      j="   ` g 'k'`"
    fi
  done
  while l; do
    if m; then
      break
    fi
  done
fi
""",
    """\
for d in $s; do
  if [ -r "$d" ]; then
    c="`grep -E "^Exec(\\[[^]=]*])?=" "$f" | cut -d= -f 2-`"
    c="`which "$c"`"
  fi
done
if [ $# -gt 0 ]; then echo "$@"; else echo "Try 'x --help'"; fi
""",
    """\
# it's a comment
for line in $f
do
  mode=${line%% *} # 1st word
  a="${b}_$$$c" e= g=
done
cat <<\\END
isn't done: fi
END
if a; then echo if fi done esac; fi
""",
    "case $a in\n  (if) b ;;\n  *'done'|fi) c ;&\n  'it') ;;\nesac\n",
    "for i in if then fi; do echo $i; done; for do in do; do :; done\n",
    "a=(if # fi\n  done \"it's\")\necho ${#a[@]} $'it\\'s' $((1 << 2)) $(case x in (x) ;; esac)\n",
    "if [[ $a =~ ^(if|fi)$ && -n $b ]]; then (cd c); fi\nfor ((i = 0; i < 2; i++)); do :; done\n",
    "while read -r line; do :; done < <(ls | grep -v 'done')\n",
    "diff <('a)b' c) d >('e)f')\n",
    "if (((a) + 2)); then (((b))); fi\n",
    "if (('(')); then b; fi\n",
    'if (("(")); then x=$((")")); fi\n',
    "if ((`echo \\(`)); then b; fi\n",
    "for (('a';;)); do b; done\n",
]

DOLLARS = (
    "$$'b\\'", "\"$'b\"", "${b:-'}'}", "$[]", "$''", "$(())'b'", "$((1))'b'", "$((b); c)'d'",
    "$((b) )", "${}", "${b:-(}", "\"${b:-'}\"", "$'b\\'c'", "$#'b'",
)  # fmt: skip
REFUSED = [
    ("if a; then\n(((1)))\n", 1, '"if" without "fi"' + _SYNTAX),
    ("if a; then\n(())\n", 1, '"if" without "fi"' + _SYNTAX),
    ("(('\nif", 1, "the quote ' is never closed"),
    *(("a {}\nif a; then\n".format(text), 2, '"if" without "fi"' + _SYNTAX) for text in DOLLARS),
    ("if a; then\n  b\n", 1, '"if" without "fi"' + _SYNTAX),
    ("[[ ( $a == b ) && c ]]\nif a; then\n", 2, '"if" without "fi"' + _SYNTAX),
    ("[[ a ]]; if b; then\n", 1, '"if" without "fi"' + _SYNTAX),
    ("for i in 0 1; do\n  a &\n", 1, '"for" without "done"' + _SYNTAX),
    ("while a; do\n  if b; then\n    c\ndone\n", 2, '"if" without "fi"' + _SYNTAX),
    ("case $a in\n  b) c ;;\n", 1, '"case" without "esac"' + _SYNTAX),
    ("a() {\n  b\n", 1, '"{" without "}"' + _SYNTAX),
    ("a=$(if b; then c)\n", 1, '"if" without "fi"' + _SYNTAX),
    ("a=1\nfi\n", 2, '"fi" without "if" before it: bash stops here with a syntax error'),
    ("a='b' c='d\n", 1, "the quote ' is never closed"),
    ("cat <<E\nfi '\nE\nif a; then\n", 4, '"if" without "fi"' + _SYNTAX),
    ("cat <<-E <<F\n\tfi\n\tE\n'\nF\nif a; then\n", 6, '"if" without "fi"' + _SYNTAX),
    ("cat <<E\n\tE\nfi\nE\nif a; then\n", 5, '"if" without "fi"' + _SYNTAX),
    ("if a; then\n  cat <<E\n  b\n", 1, '"if" without "fi"' + _SYNTAX),
    ("a ${b:-(} ${} ${c#'}'}\nif a; then\n", 2, '"if" without "fi"' + _SYNTAX),
    ('a "${b:-\'} $[1+(2)]"\nif a; then\n', 2, '"if" without "fi"' + _SYNTAX),
    ("a=`b\n", 1, "the quote ` is never closed"),
]


def refuses(text):
    """Whether bash itself refuses a script; it only reads it."""
    done = subprocess.run([BASH, "-n"], input=text.encode(), stderr=subprocess.PIPE)
    return done.returncode != 0


@pytest.mark.parametrize("text", TAKEN)
def test_a_script_that_bash_takes_has_no_syntax_error(text):
    """Quotes in backticks, words of blocks as arguments, text behind ``exit``: nothing is said."""
    assert syntax_fault(ShellScript(text, None)) is None
    assert BASH is None or not refuses(text)


def test_what_follows_the_end_of_a_script_is_not_read():
    """Behind ``exit`` there may be anything: data, a manual."""
    text = "if a; then\n  b\nfi\nexit 0\n\nWhat follows isn't read: if, (done\nfor a in b; do\n"
    assert syntax_fault(ShellScript(text, None)) is None


@pytest.mark.parametrize(("text", "line", "message"), REFUSED)
def test_a_script_that_bash_refuses_has_one(text, line, message):
    """The innermost block or the quote that has no end, or the end that has no beginning."""
    fault = syntax_fault(ShellScript(text, None))
    assert (line, message) == (fault.place.line, fault.message)
    assert BASH is None or refuses(text)


WORDS = """
if then else fi for in do done while case esac { } x a=1 a=( " ' ` $( $(( ${x ) ( )) ; ;; && |
# <<E $x x) ! exit \\ >f <(ls) $'a\\'b'
"""
TOKENS = [*WORDS.split(), "\n", "E\n", "\t", "\r", "\f"]


@pytest.mark.skipif(BASH is None, reason="bash is not here")
@given(st.lists(st.sampled_from(TOKENS), max_size=9).map(" ".join))
def test_what_is_refused_is_refused_by_bash(text):
    """Every text is read to its end; what is reported bash refuses, too."""
    assert syntax_fault(ShellScript(text, None)) is None or refuses(text)
