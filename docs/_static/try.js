// The page "In the browser": its examples become an editor, whose text a worker checks while it is typed.
const WORDS = {
  en: {
    text: "Text to check",
    name: "File name, which says what it is read as",
    loading: "Loading the checker (about 8 MB, once) …",
    checking: "Checking …",
    fine: "Nothing to complain about.",
    findings: (n) => (n === 1 ? "1 finding" : `${n} findings`),
    more: (n) => `${n} more are not shown.`,
    unchecked: (why) => `Not checked: ${why}.`,
    failed: (why) => `The checker is not here (${why}). A site that is built without npm has none, and it needs a server and a browser with WebAssembly; npu-config check says the same.`,
    severity: { error: "error", warning: "warning", info: "note" },
    fix: "Correct",
  },
  zh: {
    text: "要检查的文本",
    name: "文件名，决定按哪种文件读取",
    loading: "正在加载检查程序（约 8 MB，只加载一次）……",
    checking: "正在检查……",
    fine: "没有发现问题。",
    findings: (n) => `发现 ${n} 处问题`,
    more: (n) => `另有 ${n} 处未显示。`,
    unchecked: (why) => `未检查：${why}。`,
    failed: (why) => `检查程序不可用（${why}）。没有 npm 时构建的站点不含它；它还需要 HTTP 服务和支持 WebAssembly 的浏览器。npu-config check 给出同样的结果。`,
    severity: { error: "错误", warning: "警告", info: "提示" },
    fix: "改正",
  },
};
const MOST = 100;

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const place = document.querySelector(".try");
const language = place.classList.contains("zh") ? "zh" : "en";
const words = WORDS[language];
const site = new URL("..", import.meta.url).href;

const marks = element("pre", { className: "try-marks", ariaHidden: "true" });
const input = element("textarea", { spellcheck: false, rows: 16, ariaLabel: words.text });
const status = element("p", { className: "try-status", role: "status" });
const list = element("ol", { className: "try-findings" });
const tabs = element("div", { className: "try-tabs" });
const name = element("input", { spellcheck: false });
let worker, asked, waiting;

for (const example of place.querySelectorAll(".literal-block-wrapper")) {
  const file = example.querySelector(".caption-text").textContent;
  const tab = element("button", { type: "button", textContent: file });
  let text = example.querySelector("pre").textContent;
  tab.addEventListener("click", () => {
    tabs.querySelector("[aria-pressed=true]")?.leave();
    tab.ariaPressed = "true";
    name.value = file;
    input.value = text;
    ask();
  });
  tab.leave = () => {
    tab.ariaPressed = "false";
    text = input.value;
  };
  tabs.append(tab);
}
place.replaceChildren(tabs, element("label", {}, words.name, " ", name), element("div", { className: "try-text" }, marks, input), status, list);
name.addEventListener("input", ask);
input.addEventListener("input", ask);
input.addEventListener("scroll", () => marks.scrollTo(input.scrollLeft, input.scrollTop));

// One text is with the worker at a time; of those typed meanwhile only the last is asked about.
function ask() {
  marks.textContent = input.value;
  waiting = [name.value || "text", input.value, language];
  if (asked) return;
  status.textContent = worker ? words.checking : words.loading;
  worker ??= start();
  [asked, waiting] = [waiting, undefined];
  worker.postMessage(asked);
}

function start() {
  const made = new Worker(new URL("try-worker.js", import.meta.url));
  made.addEventListener("message", ({ data }) => answered(data));
  made.addEventListener("error", (event) => answered({ failed: event.message || "worker" }));
  return made;
}

function answered(answer) {
  asked = undefined;
  if (waiting) return ask();
  if (answer.failed) {
    status.textContent = words.failed(answer.failed);
    list.replaceChildren();
    return;
  }
  const starts = [0];
  for (const end of input.value.matchAll(/\n/g)) starts.push(end.index + 1);
  const offset = ([line, character]) => (starts[line] ?? input.value.length) + character;
  const { findings, unchecked } = answer;
  list.replaceChildren(...findings.slice(0, MOST).map((each) => shown(each, offset)));
  if (findings.length > MOST) list.append(element("p", {}, words.more(findings.length - MOST)));
  const count = findings.length ? words.findings(findings.length) : unchecked ? "" : words.fine;
  status.textContent = [count, unchecked && words.unchecked(unchecked)].filter(Boolean).join(" · ");
  underline(findings.map((each) => [...each.span.map(offset), each.severity]));
}

function shown(found, offset) {
  const go = element("button", { type: "button", className: "try-place" }, `${found.line ?? 1}:${found.column ?? 1}`);
  go.addEventListener("click", () => {
    input.focus();
    input.setSelectionRange(...found.span.map(offset));
  });
  const pages = found.url?.split("/rules/");
  const page = language === "zh" ? `zh/rules/${found.rule[3]}xx.html#${found.rule.toLowerCase()}-${found.name}` : `rules/${pages?.[1]}`;
  const rule = element("a", { href: pages?.length === 2 ? site + page : found.url }, `${found.rule} ${found.name}`);
  const item = element("li", { className: found.severity }, go, " ", element("strong", {}, words.severity[found.severity]), ` ${found.message} `, rule);
  if (found.help) item.append(element("div", {}, found.help));
  if (found.edits.length) {
    const fix = element("button", { type: "button", className: "try-fix" }, words.fix, ...found.edits.map((edit) => element("code", {}, edit[2])));
    fix.addEventListener("click", () => correct(found.edits.map(([start, end, text]) => [offset(start), offset(end), text])));
    item.append(fix);
  }
  return item;
}

function correct(edits) {
  if (waiting || asked) return; // the text is another one by now
  for (const [start, end, text] of edits.sort((a, b) => b[0] - a[0])) input.setRangeText(text, start, end, "end");
  ask();
}

function underline(spans) {
  const parts = [];
  let done = 0;
  for (const [start, end, severity] of spans.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (start < done || start === end) continue;
    parts.push(input.value.slice(done, start), element("mark", { className: severity }, input.value.slice(start, end)));
    done = end;
  }
  marks.replaceChildren(...parts, input.value.slice(done));
}

tabs.firstElementChild.click();
