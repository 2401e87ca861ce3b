"""Checks of what functions that are given to Dataset.map do."""

import ast
from typing import Dict, Iterator, List, Optional, Set

from npu_config.core.diagnostics import Severity
from npu_config.script.checks._check import Context, check
from npu_config.script.scopes import argument, name_of
from npu_config.script.vocabulary import TABLES

_MAPPING = ("map", "flat_map", "interleave")


def _mapped_functions(context: Context) -> Iterator[ast.AST]:
    """The functions of the script that are given to Dataset.map and its kin."""
    definitions: Dict[str, List[ast.AST]] = {}
    for definition, _ in context.script.function_lines():
        definitions.setdefault(definition.name, []).append(definition)
    seen: Set[int] = set()
    for call in context.calls(*_MAPPING):
        if not _maps_dataset(call.func):
            continue
        function: Optional[ast.AST] = argument(call, "map_func", 0)
        if isinstance(function, (ast.Name, ast.Attribute)):
            found = definitions.get(name_of(function), [])
            function = found[0] if len(found) == 1 else None
        if function is not None and id(function) not in seen:
            seen.add(id(function))
            yield function


def _maps_dataset(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and _is_dataset(function.value)


def _is_dataset(node: ast.AST) -> bool:
    """True for an expression that names a dataset or makes one."""
    text = name_of(node.func) if isinstance(node, ast.Call) else name_of(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _is_dataset(node.func.value) or "dataset" in text.lower()
    return "dataset" in text.lower() or text in ("ds", "data_set")


@check(
    "NPU889",
    Severity.WARNING,
    facts=("preprocess-tf-variable",),
    source=("docs/en/tfadapter_1/migration/faq",),
    whole=True,
)
def variable_in_dataset_function(context: Context) -> None:
    """A tf.Variable is made in a function that is given to Dataset.map.

    Preprocessing runs on the host, but the variable is initialised on the device: training fails.

    Wrong:

        def parse(record):
            scale = tf.Variable(255.0)
            return record / scale

        dataset = dataset.map(parse)

    Right:

        def parse(record):
            return record / tf.constant(255.0)

        dataset = dataset.map(parse)
    """
    if not context.mentions("Variable", "get_variable"):
        return
    for function in _mapped_functions(context):
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("Variable", "get_variable") and _is_tensorflow(node.func.value):
                context.report(
                    "a variable in preprocessing: it runs on the host and is initialised on the "
                    "device, so training fails",
                    context.place(node),
                    help="use a constant, or make the variable outside of the dataset",
                )


def _is_tensorflow(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("tf", "tf1", "tensorflow")


@check(
    "NPU890",
    Severity.WARNING,
    facts=("mix-compile-resource-tables",),
    source=("docs/en/tfadapter_1/apiref/session_config/mixed_computing.md",),
    also=("mix_compile_mode",),
)
def table_in_dataset_function(context: Context) -> None:
    """A lookup table is used in preprocessing, and mixed computing is off.

    The table is initialised on the device and used on the host, which fails, unless
    ``mix_compile_mode`` keeps both on the host.

    Wrong:

        table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
        dataset = dataset.map(lambda text: table.lookup(text))

    Right:

        custom_op.parameter_map["mix_compile_mode"].b = True
        table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
        dataset = dataset.map(lambda text: table.lookup(text))
    """
    if not context.mentions("lookup") or not context.mentions(*TABLES):
        return
    blocks = [block for block in context.run.blocks if not block.built_in]
    if not blocks or any(
        block.open or "mix_compile_mode" in block.entries for block in context.run.blocks
    ):
        return
    if any(made.kind == "NPURunConfig" for made in context.run.constructed):
        return
    tables = _table_names(context)
    for function in _mapped_functions(context):
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "lookup" and name_of(node.func.value) in tables:
                context.report(
                    'a lookup table in preprocessing without "mix_compile_mode": it is '
                    "initialised on the device and used on the host",
                    context.place(node),
                    option="mix_compile_mode",
                    help='set "mix_compile_mode" to True',
                )


def _table_names(context: Context) -> Set[str]:
    names: Set[str] = set()
    for node in context.script.nodes(*TABLES):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and name_of(value.func) in TABLES:
            assert isinstance(node, ast.Assign)
            names.update(name_of(target) for target in node.targets)
    return names - {""}
