// What the language server is started with, and what to install where it cannot be.
// Nothing here knows the editor, so that it is tested without one.

/** What an interpreter has. */
export interface Found {
  readonly python: readonly [number, number];
  readonly missing: readonly string[];
}

/** Runs a program; what it prints. */
export type Run = (program: string, args: readonly string[]) => Promise<string>;

/** Why there is no server: what to say, and the command that helps, if one does. */
export interface Refusal {
  readonly message: string;
  readonly command?: string;
}

export const EXTRA = "npu_config[lsp]";
const OLDEST: readonly [number, number] = [3, 8];

const PROBE = [
  "import importlib.util, json, sys",
  "names = ['npu_config', 'click', 'pygls']",
  "missing = [name for name in names if importlib.util.find_spec(name) is None]",
  "print(json.dumps({'python': sys.version_info[:2], 'missing': missing}))",
].join("\n");

/** The interpreter: that of the setting, else the selected one, else python3. */
export function interpreterOf(setting: string, selected: string | undefined): string {
  return setting.trim() || selected?.trim() || "python3";
}

/** The arguments that start the server. */
export function serverArguments(): string[] {
  return ["-m", "npu_config", "lsp"];
}

/** Ask an interpreter what it has; null where it is none. */
export async function probe(interpreter: string, run: Run): Promise<Found | null> {
  try {
    const found: unknown = JSON.parse(await run(interpreter, ["-c", PROBE]));
    return isFound(found) ? found : null;
  } catch {
    return null;
  }
}

function isFound(value: unknown): value is Found {
  const found = value as Partial<Found> | null;
  return Array.isArray(found?.python) && Array.isArray(found.missing);
}

/** Why an interpreter cannot start the server; null when it can. */
export function refusal(interpreter: string, found: Found | null): Refusal | null {
  if (found === null) {
    return { message: `npu_config: ${interpreter} cannot be run; select an interpreter of Python ${OLDEST.join(".")} or newer` };
  }
  const [major, minor] = found.python;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return {
      message:
        `npu_config: the language server requires Python ${OLDEST.join(".")} or newer, and ${interpreter} is ${found.python.join(".")}; ` +
        "select another interpreter in the setting npu-config.interpreter: files for Python 3.7 are checked all the same",
    };
  }
  if (found.missing.length > 0) {
    return {
      message: `npu_config: ${interpreter} lacks ${found.missing.join(", ")}; install ${EXTRA}`,
      command: `"${interpreter}" -m pip install "${EXTRA}"`,
    };
  }
  return null;
}

/** The files that the server is asked about: any of these names, on the disk. */
export const SELECTOR = [
  { scheme: "file", pattern: "**/*.{py,yaml,yml,toml,json,pbtxt,sh,bash,sbatch,slurm,env,cfg,ini,txt,config,aippconfig}" },
  { scheme: "file", pattern: "**/*.{log,out,plog}" },
];

/** Files whose change on the disk may change what is found in others. */
export const WATCHED = "**/*.{py,yaml,yml,toml,json,cfg,ini,sh}";
