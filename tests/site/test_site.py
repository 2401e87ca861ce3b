"""The built documentation: its links, and how a browser shows it.

``nox -s docs`` (``make site``) builds the site and runs this; the folder is in NPU_CONFIG_SITE.
A part that needs a browser is skipped where there is none, and fails in CI.
"""

import functools
import html
import http.server
import json
import os
import re
import shutil
import threading
import urllib.parse
from pathlib import Path

import pytest

if "NPU_CONFIG_SITE" not in os.environ:
    pytest.skip("the site is not built: run nox -s docs", allow_module_level=True)

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ["NPU_CONFIG_SITE"])
PICTURES = Path(os.environ.get("NPU_CONFIG_SCREENSHOTS", str(SITE.parent / "pages")))
PAGES = (
    "index.html",
    "getting-started.html",
    "checking-scripts.html",
    "distributed.html",
    "recipes/iteration-offload.html",
    "options/index.html",
    "options/accuracy_comparison.html",
    "rules/1xx.html",
    "reference/commands.html",
    "reference/python/builder.html",
    "try.html",
    "zh/index.html",
    "zh/options/accuracy_tuning.html",
    "zh/rules/3xx.html",
)
WIDTHS = (1300, 420)
LANDING_LIMIT = 150 * 1000


TAG = re.compile(r"<([a-z]\w*)((?:\s[^<>\"]*(?:\"[^\"]*\"[^<>\"]*)*)?)>")
ATTRIBUTE = re.compile(r"([\w-]+)=\"([^\"]*)\"")


class Links:
    """What a page, as Sphinx writes it, names and what it leads to."""

    def __init__(self, text):
        self.anchors, self.targets, self.loaded = set(), set(), set()
        for tag, attributes in TAG.findall(text):
            given = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(attributes)}
            self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
            if tag == "a" and given.get("href"):
                self.targets.add(given["href"])
            if tag == "script" and given.get("src"):
                self.loaded.add(given["src"])
            if tag == "link" and given.get("rel") == "stylesheet":
                self.loaded.add(given["href"])


@functools.lru_cache(maxsize=None)
def links(path):
    """The links of a page."""
    return Links(path.read_text(encoding="utf-8"))


def anchors(path):
    """What a link to a page can name on it."""
    return links(path.resolve()).anchors if path.suffix == ".html" else ()


def test_every_link_leads_somewhere():
    """Each link inside the site names a file that is there, and an anchor on it."""
    broken = []
    for page in SITE.rglob("*.html"):
        for target in links(page).targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            found = page if not parts.path else page.parent / urllib.parse.unquote(parts.path)
            found = found / "index.html" if found.is_dir() else found
            anchor = urllib.parse.unquote(parts.fragment)
            if not found.is_file() or (anchor and anchor not in anchors(found)):
                broken.append("{}: {}".format(page.relative_to(SITE), target))
    assert broken == []


def test_landing_page_is_light():
    """The page, its styles and its scripts are under 150 kB, before a server compresses them."""
    landing = SITE / "index.html"
    files = [landing]
    for name in links(landing).loaded:
        files.append(SITE / urllib.parse.urlsplit(name).path)
    weights = {path.name: path.stat().st_size for path in files}
    assert sum(weights.values()) < LANDING_LIMIT, weights


@pytest.fixture(scope="module")
def address():
    """The site on a port of this machine."""
    handler = functools.partial(QuietHandler, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield "http://127.0.0.1:{}/".format(server.server_address[1])
    server.shutdown()
    server.server_close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves without a line for each request; allows a page, and a worker, no other site."""

    policy = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data:; report-uri /foreign"
    foreign = []

    def end_headers(self):
        """The policy goes with every answer."""
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def do_POST(self):
        """The browser reports a request that it did not send."""
        self.foreign.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        """Nothing."""


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium, driven by its driver."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        reason = "Chromium is not installed: apt-get install chromium chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    ):
        options.add_argument("--" + flag)
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    found.set_page_load_timeout(60)
    yield found
    found.quit()


def resize(browser, width):
    """A viewport of this width, also below the least width of a window."""
    metrics = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


CUT_OFF = """
const found = [];
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width + 1) found.push("the page");
for (const table of document.querySelectorAll("article table")) {
    const box = table.parentElement;
    if (table.scrollWidth > box.clientWidth + 1 || table.getBoundingClientRect().right > width + 1)
        found.push(table.innerText.slice(0, 60));
}
return found;
"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_cut_off(browser, address, page, width):
    """No table and no page is wider than the screen; a picture of each is kept."""
    resize(browser, width)
    browser.get(address + page)
    PICTURES.mkdir(parents=True, exist_ok=True)
    name = "{}-{}.png".format(page.replace("/", "-")[: -len(".html")], width)
    browser.save_screenshot(str(PICTURES / name))
    assert browser.title
    assert browser.execute_script(CUT_OFF) == []


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("dump_step", "options/accuracy_comparison"),
        ("overflow", "recipes/overflow"),
        ("溢出检测", "zh/options/accuracy_comparison"),
        ("noqa", "checking-scripts"),
        ("which product", "versions"),
        ("stuck", "options/exception"),
        ("迭代下沉", "zh/recipes/iteration-offload"),
        ("资源配置文件", "zh/distributed"),
        ("训练报错怎么办", "zh/logs"),
        ("mixed precision blacklist", "recipes/mixed-precision"),
    ],
)
def test_search_finds(browser, address, words, page):
    """The first page of hits has the page about it, in English and in Chinese."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(address + "search.html?q=" + urllib.parse.quote(words))
    targets = (
        "return [...document.querySelectorAll('#search-results ul.search > li > a')]"
        ".slice(0, 10).map(a => a.href)"
    )
    WebDriverWait(browser, 60).until(
        lambda b: any(address + page in target for target in b.execute_script(targets))
    )


def test_a_chinese_page_asks_for_chinese_ones(browser, address):
    """Latin words that are typed there find its twins first; the sidebar speaks Chinese."""
    from selenium.webdriver.support.ui import WebDriverWait

    resize(browser, WIDTHS[0])
    browser.get(address + "zh/codes.html")
    captions = (
        "return [...document.querySelectorAll('.sidebar-tree .caption')]"
        ".filter(each => each.offsetParent).map(each => each.innerText)"
    )
    shown = browser.execute_script(captions)
    assert shown
    for text in shown:
        assert re.search("[\u3400-\u9fff]", text), shown
    box = browser.find_element("css selector", "input.sidebar-search")
    box.send_keys("noqa")
    box.submit()
    first = "return document.querySelector('#search-results ul.search > li > a')?.href || ''"
    WebDriverWait(browser, 60).until(
        lambda b: "/zh/checking-scripts" in b.execute_script(first).split("?")[0]
    )
    assert browser.execute_script(captions) == shown


def comparison(long_name):
    """A comparison of 10,000 tensors: 5 steps, 2 devices; in one of the parts some diverge."""
    numpy = pytest.importorskip("numpy")
    from npu_config.dumps.compare import Comparison, First, Part, Row
    from npu_config.dumps.tree import Folder
    from npu_config.dumps.verdicts import judge, limits_of

    y = numpy.arange(1.0, 7.0, dtype="f4")
    limits = limits_of("activation", "DT_FLOAT", "float32")
    same, scaled = (judge(lambda by=by: iter([(y * by, y)]), limits, (2, 3)) for by in (1, 2))
    parts, rows = [], []
    for step in range(5):
        for device in range(2):
            where = Folder("20260102030405", device, "net", 1, step)
            wrong = (step, device) == (2, 1)
            for index in range(1000):
                metrics, judged = scaled if wrong and index >= 700 else same
                name = "scope/{}conv{}".format(long_name if index == 701 else "", index)
                rows.append(
                    Row(
                        index, name, "Conv2D", "output", 0, "DT_FLOAT", name + ".0", "float32",
                        (name,), (2, 3), judged.verdict, metrics, judged.reason,
                        causes=judged.causes, where=where,
                    )
                )  # fmt: skip
            counts = {"agrees": 700, "diverges": 300} if wrong else {"agrees": 1000}
            parts.append(Part(where, where, counts, First(), "not compared"))
    (where,) = {row.where for row in rows if row.verdict == "diverges"}
    return Comparison(tuple(rows), "scope/conv700", parts=tuple(parts), where=where)


SEEN = """
const text = (query) => [...document.querySelectorAll(query)].map((each) => each.innerText);
return {
    count: text("#count")[0], detail: text("#detail")[0], selected: text("tr.selected").length,
    drawn: document.querySelectorAll("#rows tr").length, cells: text("#rows tr:nth-child(2) td"),
    marks: document.querySelectorAll("#chart circle").length,
    head: document.querySelector("#head th").getBoundingClientRect().top -
        document.getElementById("box").getBoundingClientRect().top,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    opened: performance.getEntriesByType("navigation")[0].loadEventEnd,
};
"""


def test_the_page_of_a_comparison(browser, tmp_path):
    """Rows are drawn when they are seen; filter, search, matrix, chart and keys do their work."""
    from selenium.webdriver.common.keys import Keys

    from npu_config.dumps.comparison_page import comparison_page

    path = tmp_path / "c.html"
    path.write_text(comparison_page(comparison("a_long_scope/" * 25), "a < b"), encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        resize(browser, width)
        browser.get(path.as_uri())
        browser.save_screenshot(str(PICTURES / "comparison-{}.png".format(width)))
        assert browser.execute_script(SEEN)["wide"] == 0
    resize(browser, WIDTHS[0])

    def seen():
        return browser.execute_script(SEEN)

    def click(query):
        browser.execute_script("document.querySelector(arguments[0]).click()", query)

    body = browser.find_element("tag name", "body")
    first = seen()
    assert (first["count"], first["selected"]) == ("rows: 10,000 of 10,000", 0)
    assert first["drawn"] < 200
    print("opened in {:.0f} ms".format(first["opened"]))
    browser.execute_script("box = document.getElementById('box'); box.scrollTop = 120000")
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
    assert abs(seen()["head"]) <= 2
    assert seen()["cells"][3].startswith("scope/conv")
    body.send_keys("d")
    assert (seen()["count"], seen()["marks"]) == ("rows: 300 of 10,000", 300)
    assert seen()["cells"][:3] == ["701", "diverges", "2 / 1"]
    body.send_keys("n", Keys.ARROW_DOWN)
    assert seen()["selected"] == 1
    assert "a_long_scope/a_long_scope" in seen()["detail"]
    assert "2 times" in seen()["detail"]
    body.send_keys(Keys.ESCAPE, "d", "/")
    browser.switch_to.active_element.send_keys("conv77")
    assert seen()["count"] == "rows: 110 of 10,000"
    click("[data-part='5']")
    assert seen()["count"] == "rows: 11 of 10,000"
    body.send_keys(Keys.ESCAPE)
    click("[data-part='0']")
    assert (seen()["count"], seen()["marks"]) == ("rows: 1,000 of 10,000", 0)


ANSWER = """
const status = document.querySelector(".try-status").textContent;
const findings = [...document.querySelectorAll(".try-findings li")].map((each) => [
    each.querySelector(".try-place").textContent,
    each.querySelector("a").textContent,
    each.innerText]);
return JSON.stringify([status, findings]);
"""
WRITE = """
const [selector, text] = arguments, box = document.querySelector(selector);
for (let end = 1; end <= text.length; end++) {
    box.value = text.slice(0, end);
    box.dispatchEvent(new Event("input"));
}
"""
WEIGHT = 16 * 1024 * 1024


def test_page_checks_what_is_typed(browser, address, tmp_path):
    """In the browser, without another site: what ``npu_config.check`` finds, and its fixes."""
    made = SITE / "_browser"
    if not made.is_dir() and not os.environ.get("CI"):
        pytest.skip("the site was built without npm")
    assert sum(each.stat().st_size for each in made.iterdir()) < WEIGHT
    from selenium.webdriver.support.ui import WebDriverWait

    from npu_config import check

    def answer(expected):
        """What is shown, when these are the places and rules of it."""
        wait = WebDriverWait(browser, 240)
        seen = []

        def is_shown(_):
            seen[:] = json.loads(browser.execute_script(ANSWER))
            return [each[:2] for each in seen[1]] == expected and "……" not in seen[0]

        try:
            wait.until(is_shown)
        except Exception:
            raise AssertionError((expected, seen)) from None
        return seen

    def found_in(path):
        return [
            ["{}:{}".format(each.line or 1, each.column or 1), each.rule + " " + each.name]
            for each in check(str(path))
        ]

    browser.get(address + "zh/try.html")
    examples = [tmp_path / "broken.yaml"]
    shutil.copy2(str(ROOT / "examples" / "quickstart" / "broken.yaml"), str(examples[0]))
    examples += [
        ROOT / "docs" / "_browser" / name
        for name in ("train.py", "rank_table.json", "mixlist.json")
    ]
    for tab, path in zip(browser.find_elements("css selector", ".try-tabs button"), examples):
        assert tab.text == path.name
        tab.click()
        status, findings = answer(found_in(path))
        assert str(len(findings)) in status
        assert all(any("\u3400" <= sign <= "\u9fff" for sign in each[2]) for each in findings)

    browser.find_element("css selector", ".try-tabs button").click()
    answer(found_in(examples[0]))
    for width in WIDTHS:
        resize(browser, width)
        browser.save_screenshot(str(PICTURES / "try-answer-{}.png".format(width)))
        assert browser.execute_script(CUT_OFF) == []
    link = browser.find_element("css selector", ".try-findings a").get_attribute("href")
    page, _, anchor = link[len(address) :].partition("#")
    assert page.startswith("zh/")
    assert 'id="{}"'.format(anchor) in (SITE / page).read_text("utf-8")
    browser.find_element("css selector", ".try-fix").click()
    text = examples[0].read_text("utf-8").replace("presicion_mode:", "precision_mode:")
    assert browser.find_element("css selector", "textarea").get_property("value") == text
    examples[0].write_text(text, "utf-8")
    answer(found_in(examples[0]))

    text = 'version: 1\nprecision_mode: "\U0001f525"\nhccl_timeout: -1\n'
    browser.execute_script(WRITE, "textarea", text)  # a change for every character
    examples[0].write_text(text, "utf-8")
    answer(found_in(examples[0]))
    browser.execute_script(WRITE, ".try label input", "job.sh")
    status, _ = answer([["1:1", "NPU623 shell-parser-missing"]])
    assert "未检查" in status
    assert QuietHandler.foreign == []
