"""The house of docs/architecture.md: who may import whom, counting every import.

Imports inside functions and those for type checkers count as much as any other: a module that
needs another one to do its work stands above it.
"""

import ast
import functools

from tests.package_trees import modules

FLOORS = (
    ("core",),
    ("situations", "text"),
    ("python_flow",),
    ("catalogue",),
    ("proto",),
    ("sidefiles",),
    ("rank_table",),
    ("launch",),
    ("rules",),
    ("script",),
    ("readers",),
    ("judging",),
    ("writers", "reporters"),
    ("diagnosis", "dumps", "editor", "lint", "logs", "migration", "records"),
    ("tf1",),
    ("precision_tool", "npu_init"),
    ("runner",),
    ("config",),
    ("flags",),
    ("builder",),
    ("presets",),
    ("cluster",),
    ("rulebook",),
    ("checking",),
    ("cli",),
    ("__main__",),
)
"""Each room imports rooms of lower floors only; ``npu_config`` itself only names its faces."""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


@functools.lru_cache(maxsize=None)
def by_name():
    """``npu_config.proto.schema`` and so on, each with its tree."""
    return {module.dotted: module for module in modules()}


def room(module):
    """``npu_config.proto.schema`` -> ``proto``."""
    return module.split(".")[1] if "." in module else ""


def imports(module):
    """Every module that a module imports, wherever the import is written, with its line."""
    known = by_name()
    for node in known[module].nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "{}:{} is a relative import".format(module, node.lineno)
            for alias in node.names:
                submodule = "{}.{}".format(node.module, alias.name)
                yield node.lineno, submodule if submodule in known else node.module
        elif isinstance(node, ast.Constant) and node.value in known and "." in node.value:
            yield node.lineno, node.value


@functools.lru_cache(maxsize=None)
def all_edges():
    """Each module with what it imports."""
    return {module: sorted(set(imports(module))) for module in by_name()}


def test_every_room_has_a_floor():
    """A new room is entered in the picture before it is used."""
    assert {room(module) for module in by_name()} - {""} == set(FLOOR)


def test_imports_go_down_only():
    """No module imports a room of its own floor or of one above, not even in a function."""
    wrong = [
        "{}:{} imports {}".format(module, line, name)
        for module, edges in all_edges().items()
        for line, name in edges
        if room(module) != room(name)
        and name.startswith("npu_config.")
        and room(module)
        and FLOOR[room(name)] >= FLOOR[room(module)]
    ]
    assert wrong == []


def circles(edges):
    """The strongly connected sets of modules with more than one member (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(start):
        work = [(start, iter(edges[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            module, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(edges[target])))
                    break
                if target in stack:
                    low[module] = min(low[module], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == index[module]:
                    members = [stack.pop()]
                    while members[-1] != module:
                        members.append(stack.pop())
                    if len(members) > 1:
                        found.append(sorted(members))

    for module in edges:
        if module not in index:
            visit(module)
    return found


def test_circles_are_found():
    """The test can fail."""
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}) == [["a", "b", "c"]]
    assert circles({"a": ["b"], "b": [], "c": ["a", "b"]}) == []


def test_no_circle():
    """No modules import each other, whichever way and wherever the imports are written."""
    known = by_name()
    edges = {
        module: [name for _, name in found if name in known]
        for module, found in all_edges().items()
    }
    assert circles(edges) == []


def test_private_modules_stay_private():
    """A module with a leading underscore is imported by its own package only."""
    wrong = [
        "{}:{} imports {}".format(module, line, name)
        for module, edges in all_edges().items()
        for line, name in edges
        if name in by_name()
        and name.rsplit(".", 1)[-1].startswith("_")
        and not name.endswith("__")
        and not module.startswith(name.rsplit(".", 1)[0])
    ]
    assert wrong == []


def eager_imports(module):
    """What a module imports when it is imported itself."""
    pending = list(by_name()[module].tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
        pending.extend(
            child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)
        )


def test_only_tf1_imports_tensorflow():
    """TensorFlow is never imported when a module is imported."""
    wrong = [
        "{}:{}".format(module, line)
        for module in by_name()
        for line, name in eager_imports(module)
        if name.split(".")[0] in ("tensorflow", "npu_bridge")
    ]
    assert wrong == []


def test_heavy_libraries_are_imported_on_use():
    """protobuf and YAML are imported at module level by the rooms that own them, numpy by none."""
    owners = {"google": {"proto", "tf1"}, "yaml": {"readers", "writers"}, "numpy": set()}
    wrong = [
        "{}:{} imports {}".format(module, line, name)
        for module in by_name()
        for line, name in eager_imports(module)
        if room(module) not in owners.get(name.split(".")[0], {room(module)})
    ]
    assert wrong == []
