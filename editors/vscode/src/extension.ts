// The extension: starts the server with the interpreter of the Python extension, and ends it.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { interpreterOf, probe, refusal, SELECTOR, serverArguments, WATCHED } from "./server";

const COPY = "Copy the command";
const SELECT = "Select an interpreter";

/** What is used of the Python extension. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

let client: LanguageClient | undefined;
let starting: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const python = await pythonApi();
  const restart = (): Promise<void> => {
    starting = starting.then(() => start(context, python)).catch((error: unknown) => void offer(`npu_config: ${String(error)}`, undefined));
    return starting;
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("npu-config.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("npu-config")) {
        void restart();
      }
    }),
  );
  if (python !== undefined) {
    context.subscriptions.push(python.environments.onDidChangeActiveEnvironmentPath(() => void restart()));
  }
  await restart();
}

export async function deactivate(): Promise<void> {
  await starting;
  await stop();
}

/** End the server; one that did not start, or ended by itself, has nothing to be asked. */
async function stop(): Promise<void> {
  const ended = client;
  client = undefined;
  await ended?.stop().catch(() => undefined);
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  return extension?.activate().then(undefined, () => undefined);
}

async function start(context: vscode.ExtensionContext, python: PythonApi | undefined): Promise<void> {
  await stop();
  const settings = vscode.workspace.getConfiguration("npu-config");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const selected = python?.environments.getActiveEnvironmentPath(folder).path;
  const interpreter = interpreterOf(settings.get("interpreter", ""), selected);
  const cwd = context.extensionPath; // modules of the workspace must not hide those of Python
  const refused = refusal(interpreter, await probe(interpreter, (program, args) => output(program, args, cwd)));
  if (refused !== null) {
    void offer(refused.message, refused.command);
    return;
  }
  const command = { command: interpreter, args: serverArguments(), options: { cwd } };
  client = new LanguageClient("npu-config", "npu_config", command, {
    documentSelector: SELECTOR,
    initializationOptions: { language: settings.get("language", "") },
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher(WATCHED) },
  });
  await client.start();
}

/** Say what is wrong, with what helps. */
async function offer(message: string, command: string | undefined): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(message, ...(command === undefined ? [SELECT] : [COPY, SELECT]));
  if (chosen === COPY && command !== undefined) {
    await vscode.env.clipboard.writeText(command);
  } else if (chosen === SELECT) {
    await vscode.commands.executeCommand("python.setInterpreter");
  }
}

async function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  return (await promisify(execFile)(program, [...args], { cwd, timeout: 30000 })).stdout;
}
