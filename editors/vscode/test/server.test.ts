import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { interpreterOf, probe, refusal, SELECTOR } from "../src/server";

const run = async (program: string, args: readonly string[]): Promise<string> => (await promisify(execFile)(program, [...args])).stdout;

test("the setting goes before the selected interpreter, and that before python3", () => {
  assert.equal(interpreterOf(" /a/python ", "/b/python"), "/a/python");
  assert.equal(interpreterOf("", "/b/python"), "/b/python");
  assert.equal(interpreterOf("", undefined), "python3");
});

test("an interpreter is asked what it has", async () => {
  const found = await probe("python3", run);
  assert.notEqual(found, null);
  assert.equal(found?.python[0], 3);
});

test("what is none, or prints nonsense, has nothing", async () => {
  assert.equal(await probe("/no/such/python", run), null);
  assert.equal(await probe("python3", () => Promise.resolve("oops")), null);
  assert.equal(await probe("python3", () => Promise.resolve("null")), null);
});

test("what is missing is said, with the command that installs it", () => {
  const refused = refusal("/a b/python", { python: [3, 11], missing: ["pygls"] });
  assert.match(refused?.message ?? "", /lacks pygls; install npu_config\[lsp\]/);
  assert.equal(refused?.command, '"/a b/python" -m pip install "npu_config[lsp]"');
});

test("an old Python is refused by its version", () => {
  assert.match(refusal("p", { python: [3, 7], missing: [] })?.message ?? "", /requires Python 3\.8 or newer, and p is 3\.7/);
  assert.match(refusal("p", { python: [2, 7], missing: [] })?.message ?? "", /2\.7/);
  assert.equal(refusal("p", { python: [3, 8], missing: [] }), null);
});

test("what cannot be run is named", () => {
  assert.match(refusal("/x/python", null)?.message ?? "", /\/x\/python cannot be run/);
});

test("files on the disk are looked at, and nothing else", () => {
  assert.deepEqual([...new Set(SELECTOR.map((each) => each.scheme))], ["file"]);
});
