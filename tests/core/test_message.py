"""Messages: English to everybody, translated when they are shown."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.diagnostics import Place, Report, Rule, Severity
from npu_config.core.message import (
    Message,
    catalogue,
    join,
    language,
    language_of,
    listed,
    localized,
    phrase,
    speaking,
    translate,
)

WORDS = {
    '"{}" is {}': '"{1}" <- "{0}"',
    "not set": "unset",
    "{} and {}": "{}+{}",
    "a whole sentence": "one",
    "did {}": "{0} done",
}


def other(text):
    """The test's other language."""
    return WORDS.get(text, text)


def test_a_phrase_is_its_english_text():
    """It is equal to it, hashes as it, prints as it and formats as ``str.format`` does."""
    message = phrase('"{}" is {:,}', "x", 1000)
    assert message == '"x" is 1,000'
    assert {'"x" is 1,000': 1}[message] == 1
    assert repr(message) == repr('"x" is 1,000')
    assert isinstance(str(message), Message)


def test_arguments_are_data_and_phrases_are_translated():
    """A name stays, a phrase inside of a phrase does not; the order may change."""
    message = phrase('"{}" is {}', "not set", phrase("not set"))
    assert translate(message, other) == '"unset" <- "not set"'


def test_what_is_not_in_the_catalogue_stays_english():
    """The template is English then, and the phrases in it are still translated."""
    assert translate(phrase("it is {}", phrase("not set")), other) == "it is unset"


def test_a_plain_text_is_looked_up_as_a_whole():
    """Also inside of a phrase, when it is a sentence of the catalogue."""
    assert translate("a whole sentence", other) == "one"
    assert translate(phrase("did {}", "a whole sentence"), other) == "one done"


def test_what_is_quoted_is_the_users():
    """Few words in a template with quotes are not translated, whatever the catalogue has."""
    words = {"not set": "unset"}
    message = phrase('"{}" is unknown', "not set")
    assert translate(message, lambda text: words.get(text, text)) == '"not set" is unknown'


def test_sums_and_joined_phrases_are_phrases():
    """``+`` and ``join`` keep what they are made of."""
    message = "a: " + phrase("not set") + "!"
    assert message == "a: not set!"
    assert translate(message, other) == "a: unset!"
    parts = join(" and ", ["a", phrase("not set"), "b"])
    assert parts == "a and not set and b"
    assert translate(parts, other) == "a+unset+b"


def test_join_without_phrases_is_str_join():
    """Names joined by anything but a comma, a semicolon or a word are one plain text."""
    assert type(join(" -> ", ["a", "b"])) is str
    assert join(" and ", []) == ""


def test_lists_have_the_comma_of_the_language():
    """Chinese has a comma of its own between the items of a list."""
    text = listed(["a", "b", "c"])
    assert text == "a, b, c"
    assert translate(text, catalogue("zh")) == "a、b、c"


def test_exceptions_keep_the_phrase():
    """``str(error)`` of an error that was raised with a phrase is that phrase."""
    error = ValueError(phrase("did {}", "x"))
    assert translate(str(error), other) == "x done"


@given(st.lists(st.one_of(st.text(), st.integers(), st.none()), min_size=1, max_size=4))
def test_a_phrase_survives_pickle_and_copy(values):
    """With its template and arguments, whatever the user's values are."""
    message = phrase(" ".join(["{}"] * len(values)) + " {{}}", *values)
    for again in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert message == again
        assert translate(message, str.upper) == translate(again, str.upper)


def test_a_phrase_of_objects_survives_pickle_as_text():
    """Arguments that are neither text nor numbers are stored as their text."""
    message = phrase("{!r} and {}", [1, 2], (3,))
    assert message == pickle.loads(pickle.dumps(message))


def finding(consequence=None):
    """A finding with a help."""
    rule = Rule("NPU104", "value-not-allowed", Severity.ERROR, "The page.")
    return rule.diagnostic(
        phrase('"{}" is set but "{}" is not True', "in_out_pair", "mix_compile_mode"),
        Place("a.yaml", 1, 1),
        help='set "mix_compile_mode" to True',
        consequence=consequence,
    )


def test_a_finding_in_chinese():
    """Sentences are translated, data fields are as they were, English stays in the original."""
    found = finding("session.run raises an exception")
    chinese = found.localized("zh")
    assert chinese.consequence == "session.run 会抛出异常"
    assert chinese.message.endswith("session.run 会抛出异常")
    assert "set" not in chinese.help.split()
    assert (found.rule, found.place, found.severity) == (
        chinese.rule,
        chinese.place,
        chinese.severity,
    )
    assert found.message.endswith("; session.run raises an exception")
    assert Report([found]).localized("en") == Report([found])


def test_another_consequence_takes_the_place_of_the_first():
    """In the message, too, also where the message stands in another one."""
    found = finding("session.run raises an exception").but("nothing follows", Severity.WARNING)
    assert found.message.endswith("is not True; nothing follows")
    plain = finding().but("nothing follows", Severity.WARNING)
    assert found.message == plain.message


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN"}, "en"),
        ({"NPU_CONFIG_LANG": "en", "LANG": "zh_CN"}, "en"),
        ({"NPU_CONFIG_LANG": "zh"}, "zh"),
        ({"NPU_CONFIG_LANG": "", "LANG": "zh_TW"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_first_variable_that_is_set_decides(environ, expected):
    """NPU_CONFIG_LANG, LC_ALL, LC_MESSAGES, LANG."""
    assert expected == language_of(environ)


def test_only_who_asks_is_told_in_chinese():
    """Outside of ``speaking`` everything is English."""
    assert "did you mean" in localized('did you mean "{}"?', "x")
    with speaking("zh"):
        assert language() == "zh"
        assert localized('did you mean "{}"?', "x") == '您是否要写 "x"？'  # noqa: RUF001
    assert language() == "en"
    assert catalogue("zh")("what no catalogue has") == "what no catalogue has"


@pytest.mark.parametrize(
    ("template", "arguments", "said"),
    [
        ("应为{} {}", ("true", "字符串"), "应为 true 字符串"),
        ("应为 {}、实际为{}", ("整数", 8), "应为整数、实际为 8"),
        ('"{}" 是{:,}', ("x", 1000), '"x" 是 1,000'),
        ("{1}的{0}", ("值", "rank"), "rank 的值"),
        ("{}、{}", ("a", "b"), "a、b"),
        ("有  {}", ("两格",), "有  两格"),
    ],
)
def test_blanks_of_chinese(template, arguments, said):
    """A blank stands between Chinese and Latin, whatever an argument begins or ends with."""
    assert translate(phrase("{}" * len(arguments), *arguments), lambda _: template) == said
