"""Random edits of golden files: the server shows what ``check`` says of the saved text."""

import json
import os
import random
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from npu_config.__main__ import main
from npu_config.editor.cursor import kind_of
from npu_config.readers import RULES_OF_OTHERS, SIDE_FILES
from tests.editor.client import Client
from tests.judging.test_doors import GOLDEN, in_editor, is_text, of, shown_of

FILES = 20
ROUNDS = int(os.environ.get("NPU_CONFIG_EDITS", "100")) // FILES
"""How many edits of each file: NPU_CONFIG_EDITS of all together."""

WORDS = ["\n", "  ", '"', "{", "}", ":", "=", "#", "npu: ignore", "hccl_timeout", "1", "é", "😀"]


def edited(text, chance):
    """The text with one edit: some characters taken away, others put there."""
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((0, 0, 1, 5, 40)))
    return text[:start] + chance.choice(["", *WORDS]) + text[end:]


def golden_files():
    """Some golden cases of every room, with their names."""
    chance = random.Random(31)
    for folder in GOLDEN:
        suffixes = (".py", ".yaml", ".toml", ".json", ".pbtxt", ".sh", ".cfg")
        paths = [p for p in sorted(folder.rglob("*")) if p.suffix in suffixes and is_text(p)]
        yield from chance.sample(paths, min(2, len(paths)))


def memory(pid):
    """The bytes of memory that a process holds."""
    path = Path("/proc/{}/statm".format(pid))
    return int(path.read_text().split()[1]) * 4096 if path.exists() else 0


def checked(capsys, *words):
    """What the command finds in the file that is named last; None: it passes over it."""
    main(["check", "--format", "json", *words])
    document = json.loads(capsys.readouterr().out)
    return of(document).get(words[-1], set()) if document["summary"]["files"] else None


def test_edits(tmp_path, monkeypatch, capsys):
    """Every file is edited, all of them are shown, and each is compared with the command: one
    that was ours when it was opened with what is said of it when it is named."""
    chance = random.Random(7)
    cases = list(golden_files())
    texts = {}
    for number, case in enumerate(chance.sample(cases, FILES)):
        path = tmp_path / str(number) / case.name
        path.parent.mkdir()
        path.write_bytes(case.read_bytes())
        texts[path] = case.read_bytes().decode("utf-8")
    monkeypatch.chdir(tmp_path)
    used = []
    ours = {
        path: ["--as", kind_of(str(path), text)] * (kind_of(str(path), text) in SIDE_FILES)
        for path, text in texts.items()
        if checked(capsys, "--if-ours", str(path)) is not None
    }
    with Client(tmp_path) as client:
        for path, text in texts.items():
            client.found(path, text)
        for number in range(ROUNDS):
            texts = {path: edited(text, chance) for path, text in texts.items()}
            versions = {path: client.change(path, text) for path, text in texts.items()}
            for path, text in texts.items():
                shown = in_editor(client.published(path, versions[path]))
                path.write_bytes(text.encode("utf-8"))
                found = checked(capsys, "--if-ours", str(path))
                if found is None and path in ours:
                    found = checked(capsys, *ours[path], str(path)) or set()
                    found = (
                        None
                        if {rule for rule, *_ in found}.intersection(RULES_OF_OTHERS)
                        else found
                    )
                assert shown_of(found or set(), text) == shown
            if number >= ROUNDS // 2:
                used.append(memory(client.process.pid))
        assert client.end() == 0
    assert used[-1] <= used[0] * 1.1 + 2**20
