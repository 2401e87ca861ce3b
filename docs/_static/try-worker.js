// Python in a worker of its own: it loads what tools/browser.py made, then answers one text after another.
const folder = new URL("../_browser/", self.location).href;

async function load() {
  importScripts(folder + "pyodide.js");
  const [python, packages] = await Promise.all([
    loadPyodide({ indexURL: folder }),
    fetch(folder + "packages.zip").then((answer) => answer.arrayBuffer()),
  ]);
  python.unpackArchive(packages, "zip");
  return python.pyimport("checker");
}

const loaded = load();

addEventListener("message", async ({ data: [name, text, language] }) => {
  try {
    const checker = await loaded;
    postMessage(JSON.parse(checker.check(name, text, language)));
  } catch (error) {
    postMessage({ failed: String(error).trim().split("\n").pop() });
  }
});
