"""Neovim without a window, set up as docs/editors.md says."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.editor.client import ROOT

pytest.importorskip("pygls")

pytestmark = pytest.mark.skipif(not shutil.which("nvim"), reason="there is no nvim")

STEPS = """
local found = {}
local function wait(what, done)
  if not vim.wait(60000, done, 50) then
    found.late = what
  end
end
local function codes()
  local list = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(list, tostring(each.code or each.user_data.lsp.code))
  end
  return list
end
wait("findings", function() return #vim.diagnostic.get(0) > 0 end)
found.first = codes()
vim.ui.select = function(items, _, choose) choose(items[1]) end
vim.fn.cursor(6, 3)
vim.lsp.buf.code_action()
wait("fix", function() return vim.fn.getline(6):match("^precision_mode:") end)
found.line = vim.fn.getline(6)
wait("fewer findings", function() return not vim.tbl_contains(codes(), "NPU101") end)
found.second = codes()
vim.fn.append(vim.fn.line("$"), "hccl_time")
vim.fn.cursor(vim.fn.line("$"), 9)
local place = vim.lsp.util.make_position_params()
place.position.character = 9
local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", place, 60000)
found.offered = {}
for _, answer in pairs(answers or {}) do
  for _, item in ipairs(answer.result.items) do
    table.insert(found.offered, item.textEdit.newText)
  end
end
vim.fn.writefile({ vim.fn.json_encode(found) }, "found.json")
vim.cmd("qa!")
"""


def test_neovim(tmp_path):
    """The broken example: its findings are shown, a fix is applied, an option is completed."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (settings,) = re.findall(r"```lua\n(.*?)```", page, re.DOTALL)
    (tmp_path / "init.lua").write_text(settings)
    (tmp_path / "steps.lua").write_text(STEPS)
    shutil.copy(str(ROOT / "examples" / "quickstart" / "broken.yaml"), str(tmp_path))
    program = tmp_path / "bin" / "npu-config"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec "{}" -m npu_config "$@"\n'.format(sys.executable))
    program.chmod(0o755)
    here = str(ROOT) if (ROOT / "npu_config").exists() else ""
    environ = {
        **os.environ,
        "PATH": "{}:{}".format(program.parent, os.environ["PATH"]),
        "PYTHONPATH": here,
        "HOME": str(tmp_path),
    }
    subprocess.run(
        ["nvim", "--headless", "-i", "NONE", "-u", "init.lua", "broken.yaml", "-S", "steps.lua"],
        cwd=str(tmp_path),
        env=environ,
        timeout=300,
        check=True,
    )
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert "late" not in found
    assert {"NPU101", "NPU108", "NPU401"} <= set(found["first"])
    assert found["line"].startswith("precision_mode: allow_mix_precision")
    assert "NPU101" not in found["second"]
    assert "hccl_timeout: " in found["offered"]
