"""How a script is started and where: app.run, environment variables, tools for GPUs, loops."""

import ast
import re
from typing import Dict, Iterator, List, Optional, Set, Tuple

from npu_config.core.message import phrase
from npu_config.migration.sessions import AMP_NOTE
from npu_config.migration.work import Note, Work
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import imported, literal_text, name_of

__all__ = ["after", "shell_notes"]


_XLA_NOTE = "XLA is not used on the NPU: remove this line"
_CUDA_NOTE = (
    "this has no effect on the NPU: ASCEND_DEVICE_ID of the launch script selects the device"
)
_CPU_NOTE = (
    "this line selects the CPU on purpose, but once npu_init is imported, the sessions run "
    "on the NPU of the host"
)
_SMI_NOTE = "this tool does not exist on the NPU host: use npu-smi info"
_LAUNCH_NOTE = (
    "start one process per device and set JOB_ID, RANK_ID, RANK_SIZE, RANK_TABLE_FILE and "
    "ASCEND_DEVICE_ID; see npu-config ranktable and npu-config env"
)


def after(work: Work) -> None:
    """Texts that name variables and tools, imports of such, and loops that train."""
    for site in work.script.sites:
        text = literal_text(site.node)
        if text is not None:
            _text(work, site, text)
        elif isinstance(site.node, ast.keyword) and site.node.arg:
            outer = getattr(site.parents[-1], "func", site.node)
            if name_of(outer) in ("update", "dict"):
                _variable(work, site.node.value.lineno, site.node.arg)
    for site in work.script.imports:
        names = imported(site.node)
        if any(name.split(".")[0] in ("pynvml", "py3nvml", "GPUtil") for name in names):
            work.manual(site.line, "nvidia-smi", _SMI_NOTE)
    _loops(work)
    if (work.changes or work.patch_lines) and "horovod" not in work.script.words:
        for site in work.script.calls_of("tensorflow.app.run"):
            text = "one rank without init_resource: no change is needed here"
            work.manual(site.line, "app-run", text)


_COMMAND = re.compile(
    r"(?:^|[\s;&|(`/])(?:(nvidia-smi)|mpirun|mpiexec|horovodrun|torchrun|srun)(?=\s|$|[;&|)`])"
)
_STARTS = frozenset(
    (
        *("system", "popen", "Popen", "call", "run", "check_call", "check_output", "split"),
        *("getoutput", "getstatusoutput", "execvp", "execlp"),
    )
)


def _command(site: Site, text: str) -> Optional[str]:
    """The fact about a text that is a command: its first word, or what a shell is given."""
    match = _COMMAND.search(text)
    if match is None:
        return None
    calls = [node for node in site.parents if isinstance(node, ast.Call)]
    names = [name_of(call.func) for call in calls]
    is_first = match.start() == 0 or text.startswith("/")
    if not (_STARTS.intersection(names) or (is_first and (not calls or names == ["dict"]))):
        return None
    return "nvidia-smi" if match.group(1) else "launch"


def _text(work: Work, site: Site, text: str) -> None:
    command = _command(site, text)
    if command:
        note = _SMI_NOTE if command == "nvidia-smi" else _LAUNCH_NOTE
        work.manual(site.line, command, note)
    elif _is_set(site, text):
        if text == "CUDA_VISIBLE_DEVICES" and _hides_all(site):
            work.manual(site.line, "cuda-visible-devices", _CPU_NOTE, asks=True)
        else:
            _variable(work, site.line, text)


def _hides_all(site: Site) -> bool:
    """True where the variable becomes -1 or empty: no GPU, and so the CPU."""
    value: Optional[ast.AST] = None
    for node in reversed(site.parents):
        if isinstance(node, ast.Assign):
            value = node.value
        elif isinstance(node, ast.Call) and site.node in node.args[:1] and len(node.args) > 1:
            value = node.args[1]
    return literal_text(value) in ("-1", "")


def _variable(work: Work, line: int, name: str) -> None:
    """An environment variable that is set."""
    for id, text in _about(name):
        work.manual(line, id, text)


def _about(name: str) -> Iterator[Tuple[str, str]]:
    """The fact about an environment variable that is set, and what is said of it."""
    if name == "CUDA_VISIBLE_DEVICES":
        yield "cuda-visible-devices", _CUDA_NOTE
    elif name == "TF_XLA_FLAGS":
        yield "xla-off", _XLA_NOTE
    elif name.startswith("TF_ENABLE_AUTO_MIXED_PRECISION"):
        yield "precision-mode", AMP_NOTE


def _is_set(site: Site, text: str) -> bool:
    """True for the name of an environment variable that is set here."""
    for index, node in enumerate(reversed(site.parents)):
        if isinstance(node, ast.Subscript):
            outer = site.parents[-2 - index]
            is_stored = isinstance(outer, (ast.Assign, ast.AugAssign))
            return is_stored and "environ" in name_of(node.value)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", "")
            return name in ("setdefault", "putenv", "update") and (
                name == "putenv" or "environ" in ast.dump(node.func)
            )
        if isinstance(node, ast.stmt):
            return False
    return False


# Loops


def _loops(work: Work) -> None:
    """Session loops over a range that could run on the device, and summaries in such scripts."""
    script = work.script
    steps = _train_steps(work)
    if steps:
        for site in script.sites_of(["run"]):
            call, loop = site.call, _range_loop(site)
            if call is None or loop is None or _is_fed(call):
                continue
            for name in _names(call):
                if name in steps:
                    work.manual(
                        steps[name],
                        "loop-candidate",
                        phrase(
                            "for iterations_per_loop: call "
                            "util.set_iteration_per_loop(sess, {}, n); the number of steps "
                            "and the print intervals must be multiples of n, and the input "
                            "needs an initializable iterator",
                            name,
                        ),
                    )
    if any(note.id in ("loop-candidate", "estimator-offload") for note in work.notes):
        _summaries(work)


def _train_steps(work: Work) -> Dict[str, int]:
    """The variables that hold training operations, with their lines."""
    found: Dict[str, int] = {}
    for site in work.script.sites_of(["minimize", "apply_gradients"]):
        if site.call is None:
            continue
        outer = [node for node in site.parents[:-1] if not isinstance(node, ast.Call)]
        if not outer or not isinstance(outer[-1], ast.Assign):
            continue
        target = outer[-1].targets[0]
        if name_of(target):
            found[name_of(target)] = site.line
    return found


def _range_loop(site: Site) -> Optional[ast.AST]:
    for node in reversed(site.parents):
        if isinstance(node, ast.For):
            call = node.iter
            name = getattr(call, "func", None)
            if getattr(name, "id", None) in ("range", "xrange"):
                return node
    return None


def _is_fed(call: ast.Call) -> bool:
    return len(call.args) > 1 or any(
        keyword.arg in (None, "feed_dict") for keyword in call.keywords
    )


def _names(call: ast.Call) -> Iterator[str]:
    for argument in call.args[:1]:
        for node in ast.walk(argument):
            if name_of(node):
                yield name_of(node)


_SUMMARIES = (
    *("tensorflow.summary." + word for word in ("scalar", "histogram", "image", "audio", "text")),
    "tensorflow.train.LoggingTensorHook",
)


def _summaries(work: Work) -> None:
    for site in work.script.calls_of(*_SUMMARIES):
        text = "when iterations_per_loop is above 1, summaries and logs appear once per loop"
        work.manual(site.line, "summary", text)


# Shell scripts

_SHELL_WORDS = re.compile(
    "mpirun|mpiexec|orterun|horovodrun|torchrun|distributed.launch|distributed.run|accelerate"
    "|deepspeed|srun|nvidia-smi|CUDA_VISIBLE_DEVICES|TF_XLA_FLAGS|TF_ENABLE_AUTO_MIXED_P"
)
_LAUNCHERS = re.compile(
    r"(?:^|[;&|(!]|\b(?:exec|time|nohup|if|then|do|else|env|sudo))\s{0,80}(?:\w{1,80}=\S{0,200}\s{1,8}){0,20}"
    r"(?:[\"'][^\"']{0,200}/|\S{0,200}/|[\"'])?(mpirun|mpiexec|orterun|horovodrun|torchrun|srun|deepspeed|accelerate\s{1,8}launch"
    r"|python[\d.]{0,8}\s{1,8}-m\s{1,8}(?:torch\.distributed\.(?:launch|run)|horovod\.runner\S{0,40}))[\"']?(?=\s|$)"
)
_COUNT = re.compile(
    r"\s(?:-np|-n|-c|--np|--num-proc|--ntasks|--nproc[_-]per[_-]node|--num_processes|--num_gpus)"
    r"(?:=|\s{1,8})(\d{1,9})\b"
)
_NODES = re.compile(
    r"\s(?:-N|--nodes|--nnodes|--num_machines|--num_nodes)(?:=|\s{1,8})(\d{1,9})\b"
)
_HOSTS = re.compile(r"\s(?:-H|--hosts?|-host|-w|--nodelist)(?:=|\s{1,8})([\w.:,-]{1,2000})")
_PER_NODE = re.compile(
    r"\s--(?:nproc[_-]per[_-]node|ntasks-per-node|num_gpus)(?:=|\s{1,8})(\d{1,9})\b"
)
_STARTED = re.compile(r"\s((?:\S{0,200}/)?(?:python[\d.]{0,8}|[\w./-]{1,200}\.(?:py|sh))\s?.*)")
_SMI = re.compile(r"(?:^|[\s;&|(`])nvidia-smi\b")
_SET = re.compile(
    r"(?:^|[\s;&|(])(CUDA_VISIBLE_DEVICES|TF_XLA_FLAGS|TF_ENABLE_AUTO_MIXED_P\w{1,60})\s{0,8}="
)


def _equivalent(launcher: str, rest: str, following: List[str]) -> str:
    """What starts the processes of a launcher on the NPU."""
    parts = [rest.rstrip()]
    while parts[-1].endswith("\\") and len(parts) <= len(following):
        parts[-1] = parts[-1][:-1]
        parts.append(following[len(parts) - 1].rstrip())
    call = " " + " ".join(part.strip() for part in parts)
    hosts = _HOSTS.search(call)
    names = [host.split(":")[0] for host in hosts.group(1).split(",")] if hosts else []
    servers = "".join(" --server " + name for name in names if name) or " --server SERVER"
    started = _STARTED.search(re.split(r"\s*(?:[|&;]|\d?>)", call)[0])
    command = " ".join(started.group(1).split()) if started else "COMMAND"
    command = "python3 " + command if re.match(r"\S+\.py\b", command) else command
    form = "slurm" if launcher == "srun" else "launcher"
    return phrase(
        "start {}, one per device: npu-config ranktable build{} -o rank_table.json, then "
        "npu-config env --rank-table rank_table.json --job-id NAME --to {} -o . -- {}",
        _processes(call),
        servers,
        form,
        command,
    )


_LONGEST = 40
"""How many lines of a shell script one command may have."""


def _processes(call: str) -> str:
    """How many processes a launcher starts, in words."""
    count, nodes, each = (pattern.search(call) for pattern in (_COUNT, _NODES, _PER_NODE))
    if each is not None:
        number = int(each.group(1)) * int(nodes.group(1) if nodes else 1)
    elif count is not None:
        number = int(count.group(1))
    else:
        return phrase("the same number of processes as before")
    return phrase("{} process" if number == 1 else "{} processes", number)


def shell_notes(text: str) -> List[Note]:
    """The lines of a shell script that start ranks, or name GPUs; nothing of it is edited."""
    found: Set[Note] = set()
    if _SHELL_WORDS.search(text) is None:
        return []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        code = (" " + line).split(" #", 1)[0]
        if _SHELL_WORDS.search(code) is None:
            continue
        launcher = _LAUNCHERS.search(code)
        if launcher is not None:
            following = lines[number + 1 : number + 1 + _LONGEST]
            text = _equivalent(launcher.group(1), code[launcher.end() :], following)
            found.add(Note(number + 1, "launch", "manual", text))
        if _SMI.search(code):
            found.add(Note(number + 1, "nvidia-smi", "manual", _SMI_NOTE))
        for name in _SET.findall(code):
            found.update(Note(number + 1, id, "manual", text) for id, text in _about(name))
    return sorted(found)
