"""Texts: lines, vocabularies, SQuAD, the configuration of a BERT, and empty folders."""

import json
from pathlib import Path

import numpy as np

from tools.synthetic.fields import WORDS, parse, sentence, value


def lines(
    path: Path,
    random: np.random.RandomState,
    count: str = "32",
    each: str = "",
    sep: str = " ",
    **fields: str,
) -> None:
    """Lines: count=32, and each='{a} x {b}' a=FIELD b=FIELD, or eight words."""
    parsed = {name: parse(words) for name, words in fields.items()}
    made = []
    for row in range(int(count)):
        values = {name: value(field, random, row) for name, field in parsed.items()}
        values = {
            name: sep.join(str(one) for one in many.ravel())
            if isinstance(many, np.ndarray)
            else many
            for name, many in values.items()
        }
        made.append(each.format(**values) if each else sentence(random, 8))
    text = "\n".join(made).replace("\\t", "\t").replace("\\n", "\n") + "\n"
    path.write_text(text, encoding="utf-8")


def vocabulary(path: Path, random: np.random.RandomState, first: str = "[PAD]") -> None:
    """The words of the other kinds, one a line, after first=[PAD],[UNK],..."""
    path.write_text("\n".join((*first.split(","), *WORDS)) + "\n", encoding="utf-8")


def bert_config(path: Path, random: np.random.RandomState, **values: str) -> None:
    """bert_config.json of a small model; hidden_size=32 ... and other values, as JSON."""
    config = {
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 32,
        "initializer_range": 0.02,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "type_vocab_size": 2,
        "vocab_size": 400,
    }
    config.update((name, json.loads(value)) for name, value in values.items())
    path.write_text(json.dumps(config, indent=2), encoding="utf-8")


def squad(path: Path, random: np.random.RandomState, count: str = "8") -> None:
    """Questions and answers as in SQuAD 1.1: count=8."""
    paragraphs = []
    for number in range(int(count)):
        context = sentence(random, 40)
        answer = context.split()[random.randint(40)]
        found = [{"text": answer, "answer_start": context.index(answer)}]
        question = {"id": str(number), "question": sentence(random, 6) + "?", "answers": found}
        paragraphs.append({"context": context, "qas": [question]})
    data = {"version": "1.1", "data": [{"title": "synthetic", "paragraphs": paragraphs}]}
    path.write_text(json.dumps(data), encoding="utf-8")


def folder(path: Path, random: np.random.RandomState) -> None:
    """An empty folder."""
    path.mkdir(exist_ok=True)
