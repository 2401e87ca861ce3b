import assert from "node:assert/strict";
import Module from "node:module";
import { beforeEach, test } from "node:test";

// Stand-ins for the editor and the client: what the extension asks of them is remembered.

interface Started {
  readonly command: { readonly command: string; readonly args: string[]; readonly options: { readonly cwd: string } };
  readonly options: { readonly initializationOptions: unknown };
}

const started: Started[] = [];
const shown: string[] = [];
const copied: string[] = [];
const commands = new Map<string, () => Promise<void>>();
const settings = new Map<string, string>();
let selected: (() => void) | undefined;
let choice: string | undefined;
let stopped = 0;
let failure: string | undefined;

const vscode = {
  extensions: {
    getExtension: () => ({
      activate: () =>
        Promise.resolve({
          environments: {
            getActiveEnvironmentPath: () => ({ path: "python3" }),
            onDidChangeActiveEnvironmentPath: (listener: () => void) => {
              selected = listener;
              return { dispose: () => undefined };
            },
          },
        }),
    }),
  },
  commands: {
    registerCommand: (name: string, run: () => Promise<void>) => {
      commands.set(name, run);
      return { dispose: () => undefined };
    },
    executeCommand: (name: string) => {
      shown.push(name);
      return Promise.resolve();
    },
  },
  workspace: {
    workspaceFolders: undefined,
    onDidChangeConfiguration: () => ({ dispose: () => undefined }),
    getConfiguration: () => ({ get: (name: string, value: string) => settings.get(name) ?? value }),
    createFileSystemWatcher: () => ({}),
  },
  window: {
    showWarningMessage: (message: string) => {
      shown.push(message);
      return Promise.resolve(choice);
    },
  },
  env: {
    clipboard: {
      writeText: (text: string) => {
        copied.push(text);
        return Promise.resolve();
      },
    },
  },
};

class LanguageClient {
  constructor(_id: string, _name: string, command: Started["command"], options: Started["options"]) {
    started.push({ command, options });
  }
  start(): Promise<void> {
    return failure === undefined ? Promise.resolve() : Promise.reject(new Error(failure));
  }
  stop(): Promise<void> {
    stopped += 1;
    return failure === undefined ? Promise.resolve() : Promise.reject(new Error("it is not running"));
  }
}

const standIns = new Map<string, unknown>([
  ["vscode", vscode],
  ["vscode-languageclient/node", { LanguageClient }],
]);
const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
const load = loader._load.bind(loader);
loader._load = (name, ...rest) => standIns.get(name) ?? load(name, ...rest);

// eslint-disable-next-line @typescript-eslint/no-require-imports -- it is loaded after the stand-ins
const extension = require("../src/extension") as typeof import("../src/extension");

type Context = Parameters<typeof extension.activate>[0];
const activate = (): Promise<void> =>
  extension.activate({ subscriptions: [], extensionPath: __dirname } as unknown as Context);

beforeEach(async () => {
  await extension.deactivate();
  started.length = shown.length = copied.length = stopped = 0;
  choice = failure = undefined;
  settings.clear();
});

// An interpreter that has everything: the answer to the question of the extension, as a program.
const programs = `${__dirname}/../../test`;
const complete = `${programs}/complete.sh`;

test("the server is started with the interpreter, from the folder of the extension", async () => {
  settings.set("interpreter", complete);
  settings.set("language", "zh");
  await activate();
  assert.deepEqual(shown, []);
  const [one] = started;
  assert.equal(one?.command.command, complete);
  assert.deepEqual(one.command.args, ["-m", "npu_config", "lsp"]);
  assert.equal(one.command.options.cwd, __dirname);
  assert.deepEqual(one.options.initializationOptions, { language: "zh" });
});

test("another interpreter, or the command, starts another server", async () => {
  settings.set("interpreter", complete);
  await activate();
  selected?.();
  await commands.get("npu-config.restart")?.();
  assert.equal(started.length, 3);
  assert.equal(stopped, 2);
});

test("where the interpreter cannot be run that is said, and another one can be selected", async () => {
  settings.set("interpreter", "/no/such/python");
  choice = "Select an interpreter";
  await activate();
  await new Promise(setImmediate);
  assert.match(shown[0] ?? "", /\/no\/such\/python cannot be run/);
  assert.deepEqual([shown[1], started.length], ["python.setInterpreter", 0]);
});

test("where the package is missing the command that installs it can be copied", async () => {
  settings.set("interpreter", `${programs}/lacking.sh`);
  choice = "Copy the command";
  await activate();
  await new Promise(setImmediate);
  assert.match(shown[0] ?? "", /lacks npu_config, pygls/);
  assert.match(copied[0] ?? "", /-m pip install "npu_config\[lsp\]"$/);
  assert.equal(started.length, 0);
});

test("a server that does not start is said, and can be started again", async () => {
  settings.set("interpreter", complete);
  failure = "the connection was closed";
  await activate();
  assert.match(shown[0] ?? "", /npu_config: Error: the connection was closed/);
  await commands.get("npu-config.restart")?.();
  failure = undefined;
  await commands.get("npu-config.restart")?.();
  assert.deepEqual([started.length, stopped, shown.length], [3, 2, 2]);
});
