"""The layers of the architecture: imports go down only (see docs/architecture.md)."""

import ast
from pathlib import Path

import npu_config

PACKAGE = Path(npu_config.__file__).parent

LAYERS = [
    {
        "diagnostics",
        "target",
        "settings",
        "rulebook",
        "files",
        "event_files",
        "catalogue",
        "_option_types",
    },
    {"proto"},
    {"sidefiles", "cluster"},
    {"judge", "rules"},
    {"config", "builder"},
    {
        "readers",
        "writers",
        "reporters",
        "presets",
        "checking",
        "project",
        "baseline",
        "graph_diagnosis",
        "profiling_tables",
        "loss_report",
        "doctor",
    },
    {"tf1", "precision_tool"},
    {"cli", "npu_init", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def top(module):
    """``npu_config.proto.encode`` -> ``proto``."""
    return module.split(".")[1] if module.count(".") else None


def imports_of(path):
    """Names of the package's parts that a module imports when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pending = list(tree.body)
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
            if node.module == "npu_config":
                for alias in node.names:
                    yield node.lineno, "npu_config." + alias.name
        pending.extend(
            child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)
        )


def modules():
    """Every module of the package with its part."""
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        yield path, relative.parts[0].replace(".py", "")


def test_every_module_has_a_layer():
    """A new part of the package is entered in the picture before it is used."""
    assert {part for _, part in modules()} - {"__init__"} <= set(LEVEL)


def test_imports_go_down_only():
    """No module imports a part of a higher layer when it is imported."""
    wrong = [
        "{}:{} imports {}".format(path.relative_to(PACKAGE), line, name)
        for path, part in modules()
        if part != "__init__"
        for line, name in imports_of(path)
        if name.startswith("npu_config.") and LEVEL.get(top(name), 99) > LEVEL[part]
    ]
    assert wrong == []


def test_only_tf1_imports_tensorflow():
    """TensorFlow is imported by the training side alone, and never when a module is imported."""
    wrong = [
        "{}:{}".format(path.relative_to(PACKAGE), line)
        for path, _ in modules()
        for line, name in imports_of(path)
        if name.split(".")[0] in ("tensorflow", "npu_bridge")
    ]
    assert wrong == []


def test_protobuf_and_yaml_are_imported_on_use():
    """Neither protobuf nor YAML is imported outside the layers that own them."""
    owners = {"google": {"proto", "tf1"}, "yaml": {"readers", "writers"}}
    wrong = [
        "{}:{} imports {}".format(path.relative_to(PACKAGE), line, name)
        for path, part in modules()
        for line, name in imports_of(path)
        if part not in owners.get(name.split(".")[0], {part})
    ]
    assert wrong == []
