"""Checks of the input pipeline: what it runs on the host, and what it hands to the device."""

import ast
from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Optional, Set, Tuple

from npu_config.core.diagnostics import Edit, Fix, Severity
from npu_config.core.message import phrase
from npu_config.python_flow.module import Function, Site, Value, walk
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    Scope,
    argument,
    arguments,
    dotted_parts,
    literal,
    literal_text,
    name_of,
)
from npu_config.script.checks._check import Context, items_of, recognises
from npu_config.script.elsewhere import Program, says
from npu_config.script.meaning import DATASETS, Meaning, function_arguments
from npu_config.situations import pipeline

KERAS_VARIABLES = frozenset(
    "keras.backend." + name for name in ("zeros", "ones", "variable", "random_normal_variable")
)


def _bound_to(context: Context, made: ast.AST) -> Optional[str]:
    """The name that the script gives to what a call makes; parameters may have others."""
    for each in ast.walk(context.script.tree):
        if isinstance(each, ast.Assign) and each.value is made and len(each.targets) == 1:
            return name_of(each.targets[0]) or None
    return None


_MADE = ("Variable", "get_variable", "get_or_create_global_step")
"""What makes variables that are looked for."""


@recognises(pipeline.variable_in_preprocessing, _MADE, DATASETS)
def variable_captured(context: Context) -> None:
    """A function of a dataset reads a variable that is made outside of it."""
    meaning = context.meaning
    seen: Set[Tuple[int, object]] = set()
    for _, function in meaning.given_functions:
        for part, variable in captured(meaning, function):
            read = part.node.value if isinstance(part.node, ast.Subscript) else part.node
            made = id(variable.node)
            keys = {(made, name_of(read)), (made, id(function.node))}
            if seen & keys or meaning.makes(*variable, KERAS_VARIABLES):
                continue
            seen |= keys
            context.report(
                part.node,
                'a dataset function uses the variable "{}": the function runs on the host, '
                "but the variable is initialised on the device",
                _bound_to(context, variable.node) or name_of(read),
            )
    for site in meaning.calls("from_generator"):
        given = argument(site.node, "args", 3)
        if given is not None and meaning.called(site) == "data.Dataset.from_generator":
            for item in items_of(given):
                if meaning.variable(site.scope, item):
                    context.report(
                        item,
                        "a variable is passed to the generator of a dataset: the generator "
                        "runs on the host, but the variable is initialised on the device",
                    )


def captured(meaning: Meaning, function: Function) -> Iterator[Tuple[Value, Value]]:
    """Where a function, or one that it calls, reads a variable from outside; what makes that."""
    functions = meaning.reached([function])
    own = {id(each.node) for each in functions}
    for each in functions:
        static: Set[int] = set()
        for part in meaning.body(each):
            if not isinstance(part.node, (ast.Name, ast.Attribute, ast.Subscript)):
                continue
            if not isinstance(part.node.ctx, ast.Load) or id(part.node) in static:
                continue
            if isinstance(part.node, ast.Attribute) and part.node.attr in _STATIC:
                static.update(map(id, ast.walk(part.node)))
                continue
            variable = meaning.variable(part.scope, part.node)
            if variable is not None and not _is_made_in(variable.scope, own):
                yield part, variable


_STATIC = ("shape", "get_shape", "name", "dtype")
"""What is known of a variable in Python: it is no part of the graph."""


def _is_made_in(scope: Scope, functions: Set[int]) -> bool:
    return any(id(each.node) in functions for each in scope.around())


@recognises(pipeline.dataset_argument_from_variable, _MADE, DATASETS)
def argument_from_variable(context: Context) -> None:
    """A variable is an argument of a dataset."""
    meaning = context.meaning
    for site in meaning.dataset_calls:
        call = site.node
        functions = function_arguments(call)
        is_generator = name_of(call.func) == "from_generator"
        if meaning.in_dataset_function(site):
            continue  # a captured variable, then
        for value in () if is_generator else arguments(call):
            if any(value is each for each in functions):
                continue
            for item in items_of(value):
                if meaning.variable(site.scope, item):
                    context.report(
                        item,
                        "a variable is an argument of {}: datasets are created on the host, "
                        "but the variable is initialised on the device",
                        name_of(call.func),
                    )


@recognises(
    pipeline.keras_backend_variable_in_input,
    ("zeros", "ones", "variable"),
    ("backend", "K"),
    DATASETS,
)
def keras_variable_in_input(context: Context) -> None:
    """``keras.backend.zeros`` in a function of a dataset, or in what a dataset is made of."""
    meaning = context.meaning
    seen: Set[int] = set()

    def report(scope: Scope, node: ast.AST) -> None:
        if id(node) not in seen:
            seen.add(id(node))
            assert isinstance(node, ast.Call)
            context.report(
                node,
                "keras.backend.{} creates a variable in the input pipeline: the variable is "
                "never initialised on the host",
                name_of(node.func),
                fix=_as_tensor(context, scope, node),
            )

    for _, function in meaning.given_functions:
        for each in meaning.reached([function]):
            for part in meaning.body(each):
                made = (
                    meaning.makes(part.scope, part.node, KERAS_VARIABLES)
                    if isinstance(part.node, (ast.Call, ast.Name, ast.Attribute))
                    else None
                )
                if made is not None:
                    report(*made)
    for site in meaning.dataset_calls:
        for value in arguments(site.node):
            for item in items_of(value):
                made = meaning.makes(site.scope, item, KERAS_VARIABLES)
                if made is not None:
                    report(*made)


def _as_tensor(context: Context, scope: Scope, call: ast.Call) -> Optional[Fix]:
    """The function of TensorFlow that makes a tensor in place of ``keras.backend.zeros``."""
    function, name = call.func, name_of(call.func)
    dtype = argument(call, "dtype", 1)
    is_plain = len(call.args) == 1 and all(k.arg in ("dtype", "name") for k in call.keywords)
    if name not in ("zeros", "ones") or not is_plain or (dtype and not literal_text(dtype)):
        return None
    parts = dotted_parts(function) or []
    owner = ".".join(parts[:-3]) if parts[-3:-1] == ["keras", "backend"] else "tf"
    node: ast.AST = ast.parse(owner or "tf", mode="eval").body
    if context.meaning.name(scope, node) not in ("tensorflow", "tensorflow.compat.v1"):
        return None
    text = "{}.{}".format(owner or "tf", name)
    return Fix.writing(context.place(function), text, phrase("write {}", text))


OF_ALL_VARIABLES = frozenset(
    (
        "global_variables_initializer",
        "initialize_all_variables",
        "initialize_variables",
        "variables_initializer",
        "initializers.global_variables",
        "initializers.variables",
    )
)
_LOCALS = frozenset(
    ("local_variables_initializer", "initialize_local_variables", "initializers.local_variables")
)
_GIVEN_OPERATIONS = ("Scaffold", "Supervisor")
_MONITORED = ("MonitoredTrainingSession", "SingularMonitoredSession")
_ITERATORS = frozenset(("data.make_initializable_iterator", "data.Iterator.from_structure"))


class Initialisers:
    """Finds out what an expression that is run initialises.

    Args:
        context: of the script.
        program: the other files to look into; None for the script alone.

    Attributes:
        told: where in other files iterators are initialised, in words.
    """

    def __init__(self, context: Context, program: Optional[Program] = None) -> None:
        self._context = context
        self._meaning = context.meaning
        self._program = program
        self.told: List[str] = []
        self._has_locals = context.mentions("get_local_variable", "LOCAL_VARIABLES") or any(
            context.meaning.tf(context.script.module, node) == "metrics"
            for node in context.script.nodes("metrics")
            if isinstance(node, (ast.Name, ast.Attribute))
        )

    def of(
        self,
        scope: Scope,
        node: Optional[ast.AST],
        given: Optional[Dict[str, Value]] = None,
        depth: int = 0,
    ) -> FrozenSet[str]:
        """``variables`` and ``iterator``, as far as the expression certainly does."""
        if node is None or depth > 12:
            return frozenset()
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
            values = node.values if isinstance(node, ast.Dict) else node.elts
            return self._any(scope, values, given, depth)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._each(scope, node, depth)
        if isinstance(node, ast.Starred):
            return self.of(scope, node.value, given, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._any(scope, (node.left, node.right), given, depth)
        if isinstance(node, ast.Call):
            return self._call(scope, node, given, depth)
        if isinstance(node, ast.Attribute) and node.attr in ("initializer", "make_initializer"):
            owner = Value(scope, node.value)
            if given and isinstance(node.value, ast.Name) and node.value.id in given:
                owner = given[node.value.id]
            if self._is_iterator(*owner):
                return frozenset(("iterator",))
            if self._meaning.variable(*owner):
                return frozenset(("variables",))
            if self._program is not None and self._is_iterator_elsewhere(*owner):
                return frozenset(("iterator",))
        if isinstance(node, ast.Name) and given and node.id in given:
            return self.of(*given[node.id], None, depth + 1)
        if isinstance(node, (ast.Name, ast.Attribute)):
            bound = self._meaning.values(scope, node) or self._meaning.property(scope, node)
            found = [each for each in bound if each is not None]
            if self._program is not None and not found:
                return self._of_elsewhere(scope, node, depth)
            inner = self.of(*found[0], None, depth + 1) if len(found) == 1 else frozenset()
            added = self._meaning.added(scope, node, certain=True)
            return inner.union(*(self.of(*each, None, depth + 1) for each in added))
        return frozenset()

    def _each(self, scope: Scope, node: Any, depth: int) -> FrozenSet[str]:
        """What a comprehension makes of the first item of a written list, or of another one."""
        target, over = node.generators[0].target, node.generators[0].iter
        made = self._meaning.value(scope, over)
        if made is None or len(node.generators) > 1 or not isinstance(target, ast.Name):
            return frozenset()
        items = getattr(made.node, "elts", None) or [getattr(made.node, "elt", None)]
        inner = made.scope.child(made.node) if hasattr(made.node, "elt") else made.scope
        given = {} if items[0] is None else {target.id: Value(inner, items[0])}
        return self.of(scope.child(node), node.elt, given, depth + 2)

    def _collected(self, key: str = "TABLE_INITIALIZERS") -> FrozenSet[str]:
        """What is put into a collection, besides what TensorFlow puts there."""
        calls = [
            site
            for site in self._meaning.calls("add_to_collection")
            if not site.is_conditional and len(site.node.args) > 1
        ]
        return frozenset().union(
            *(
                self.of(site.scope, site.node.args[1])
                for site in calls
                if self._key(site.scope, site.node.args[0]) == key
            )
        )

    def _key(self, scope: Scope, node: ast.expr) -> str:
        """What a collection is called: its text, or its name among those of TensorFlow."""
        return str(self._meaning.constant(scope, node) or name_of(node))

    @property
    def of_monitored(self) -> FrozenSet[str]:
        """What a session that initialises by itself runs for local variables and tables."""
        local = frozenset(("variables",)) if self._has_locals else frozenset()
        return local | self._collected() if local else local

    def _any(
        self,
        scope: Scope,
        values: Iterable[ast.AST],
        given: Optional[Dict[str, Value]],
        depth: int,
    ) -> FrozenSet[str]:
        found: FrozenSet[str] = frozenset()
        return found.union(*(self.of(scope, each, given, depth + 1) for each in values))

    def _call(
        self, scope: Scope, node: ast.Call, given: Optional[Dict[str, Value]], depth: int
    ) -> FrozenSet[str]:
        name = self._meaning.tf(scope, node.func)
        if name in OF_ALL_VARIABLES or (name in _LOCALS and self._has_locals):
            waits = [self.of(*each, given, depth + 1) for each in self._meaning.controls(node)]
            return frozenset(("variables",)).union(*waits)
        if name in _TABLES and "TABLE_INITIALIZERS" in self._context.script.source.words:
            return self._collected()
        if name_of(node.func) in ("get_collection", "get_collection_ref") and node.args:
            return self._collected(self._key(scope, node.args[0]))
        if name in ("group", "tuple", "no_op", "identity"):
            waits = [self.of(*each, given, depth + 1) for each in self._meaning.controls(node)]
            return self._any(scope, node.args, given, depth).union(*waits)
        if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple"):
            return self._any(scope, node.args, given, depth)
        if name_of(node.func) == "values" and isinstance(node.func, ast.Attribute):
            return self.of(scope, node.func.value, given, depth + 1)
        if name_of(node.func) == "make_initializer" and isinstance(node.func, ast.Attribute):
            return self.of(scope, node.func, given, depth + 1)
        for function in self._meaning.functions(scope, node.func):
            names = [each.arg for each in function.node.args.args]
            bound = {name: Value(scope, value) for name, value in zip(names, node.args)}
            bound.update({k.arg: Value(scope, k.value) for k in node.keywords if k.arg})
            for returned in function.returned:
                return self.of(function.scope, returned, bound, depth + 2)
        return frozenset() if self._program is None else self._of_elsewhere(scope, node, depth)

    def _of_elsewhere(self, scope: Scope, node: ast.expr, depth: int) -> FrozenSet[str]:
        """What another file initialises that gives an expression, whichever way it gives it."""
        found = [
            Initialisers(other).of(*value, None, depth + 2)
            for other, value in self._given_by(scope, node)
        ]
        return frozenset.intersection(*found) if found else frozenset()

    def _is_iterator_elsewhere(self, scope: Scope, node: ast.expr) -> bool:
        found = [
            Initialisers(other)._is_iterator(*value)
            for other, value in self._given_by(scope, node)
        ]
        return bool(found) and all(found)

    def _given_by(self, scope: Scope, node: ast.expr) -> Iterator[Tuple[Context, Value]]:
        """The expressions of another file that may be what an expression gives."""
        assert self._program is not None
        for other, value in self._program.given_by(scope, node):
            self.told[:] = [says(other, value.node.lineno)]
            yield Context(other.script, (), meaning=other), value

    def _is_iterator(self, scope: Scope, node: ast.AST) -> bool:
        found = self._meaning.value(scope, node)
        if found is None or not isinstance(found.node, ast.Call):
            return False
        function = found.node.func
        if self._meaning.tf(found.scope, function) in _ITERATORS:
            return True
        if name_of(function) == "make_initializable_iterator":
            return isinstance(function, ast.Attribute)
        return any(
            self._is_iterator(each.scope, returned)
            for each in self._meaning.functions(found.scope, function)
            for returned in each.returned
        )


@recognises(
    pipeline.variables_and_iterator_in_one_run,
    ("make_initializable_iterator", "from_structure"),
    ("run", *_GIVEN_OPERATIONS, *_MONITORED),
)
def initialised_together(context: Context) -> None:
    """One run initialises variables and an iterator."""
    initialisers = Initialisers(context)
    for site in runs_of_both(context, initialisers):
        context.report(site.node, TOGETHER, fix=_apart(context, initialisers, site))


TOGETHER = (
    "one session.run initialises both variables and an iterator: the adapter runs it on the "
    "host, and the variables on the device stay 0"
)


def runs_of_both(context: Context, initialisers: Initialisers) -> Iterator[Site]:
    """The calls that initialise variables and an iterator together."""
    both = {"variables", "iterator"}
    collected = _MONITORED if context.mentions("TABLE_INITIALIZERS") else ()
    for site in context.meaning.calls("run", *_GIVEN_OPERATIONS, *collected):
        call = site.node
        if name_of(call.func) == "run":
            if not isinstance(call.func, ast.Attribute):
                continue
            found = initialisers.of(site.scope, argument(call, "fetches", 0))
            found |= initialisers.of(site.scope, call.func.value)
        elif name_of(call.func) in _MONITORED:
            found = initialisers.of_monitored
            if argument(call, "scaffold", 3) is not None:
                continue
        elif context.meaning.called(site) in ("train.Scaffold", "train.Supervisor"):
            is_plain = name_of(call.func) == "Scaffold"
            given = (
                argument(call, "init_op", 0 if is_plain else 4),
                argument(call, "local_init_op", 5 if is_plain else 6),
            )
            each = [initialisers.of(site.scope, value) for value in given]
            found = max(each, key=len)
        else:
            continue
        if found >= both:
            yield site


_TABLES = ("tables_initializer", "initialize_all_tables", "initializers.tables_initializer")


def _apart(context: Context, initialisers: Initialisers, site: Site) -> Optional[Fix]:
    """Two runs in place of one that is a statement and is given a written list."""
    call, source = site.node, context.script.source
    place = context.place(call)
    fetches = argument(call, "fetches", 0)
    others = [k for k in call.keywords if k.value is not fetches]
    is_plain = (
        isinstance(site.parents[-1], ast.Expr)
        and isinstance(fetches, (ast.List, ast.Tuple))
        and len(call.args) <= 1
        and dotted_parts(call.func) is not None
        and all(k.arg == "feed_dict" and not _calls(k.value) for k in others)
    )
    written = source.at(place)
    if not is_plain or "#" in written:
        return None
    found: Dict[str, List[str]] = {"variables": [], "iterator": []}
    for item in fetches.elts:  # type: ignore[union-attr]
        kinds = initialisers.of(site.scope, item)
        made = context.meaning.value(site.scope, item)
        name = getattr(made and made.node, "func", None)
        is_table = made and name is not None and context.meaning.tf(made.scope, name) in _TABLES
        kind = "variables" if is_table else "".join(kinds)
        if kind not in found:
            return None
        found[kind].append(source.at(context.place(item)))
    end = "\r\n" if "\r\n" in source.text else "\n"
    _, line, column, end_line, end_column = place
    assert line
    assert column
    assert end_line
    assert end_column
    before = source.lines[line - 1][: column - 1]
    after = source.lines[end_line - 1][end_column - 1 :].strip()
    if not before.rstrip().endswith((":", ";")) and before.strip():
        return None
    if after and after[0] not in ";#":
        return None
    between = "; " if before.strip() or after.startswith(";") else end + before
    function = source.at(context.place(call.func))
    rest = "".join(", {}={}".format(k.arg, source.at(context.place(k.value))) for k in others)
    runs = [
        "{}({}{})".format(function, items[0] if len(items) == 1 else _listed(items), rest)
        for items in found.values()
    ]
    text = between.join(run.replace("\n", end) for run in runs)
    edit = Edit(line, column, end_line, end_column, text)
    return Fix("run the two initializers in separate session.run calls", (edit,))


def _calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _listed(items: List[str]) -> str:
    return "[{}]".format(", ".join(items))


_LARGE = 10000


_SHUFFLING = ("shuffle", "shuffle_and_repeat")


@recognises(pipeline.shuffle_buffer_with_getnext_offload, _SHUFFLING)
def large_shuffle_buffer(context: Context) -> None:
    """A shuffle buffer of 10000 elements and more, and GetNext on the device."""
    meaning = context.meaning
    for site in meaning.calls(*_SHUFFLING):
        call = site.node
        size = meaning.constant(site.scope, argument(call, "buffer_size", 0))
        if not isinstance(size, (int, float)) or size < _LARGE:
            continue
        if not any(site.node is each.node for each in meaning.dataset_calls):
            continue
        if _is_short(meaning, site, size) or not _takes_next(context):
            continue
        context.report(
            call,
            "buffer_size is {}: GetNext runs on the device, waits until the buffer is full, "
            "and may time out",
            int(size),
            option="enable_data_pre_proc",
        )


def _takes_next(context: Context) -> bool:
    """True when GetNext is certainly offloaded by some configuration."""
    if True in context.option("enable_data_pre_proc"):
        return True
    return any(
        made.kind == "NPURunConfig"
        and not made.open
        and "enable_data_pre_proc" not in made.arguments
        for path in context.paths
        for made in path.outcome.constructed
    )


def _is_short(meaning: Meaning, site: Site, size: float) -> bool:
    """True when what is shuffled is, or may well be, a short list such as the names of files."""
    node: Optional[ast.expr] = site.node.func
    scope = site.scope
    for _ in range(40):
        if not isinstance(node, ast.Attribute):
            return False
        found = meaning.value(scope, node.value)
        if found is None or not isinstance(found.node, ast.Call):
            return False
        scope, call = found.scope, found.node
        name, node = name_of(call.func), call.func
        if name in ("repeat", "interleave", "flat_map", "apply"):
            return False
        if name in ("list_files", "from_tensors", "from_tensor_slices"):
            return True
        if name == "range":
            count = meaning.constant(scope, call.args[0] if call.args else None)
            return count is not None and count < size
    return False


NOT_TRAINING = ("eval", "test", "pred", "infer", "val", "export", "dev", "serving")


def is_for_training(site: Site) -> bool:
    """False where names say that data is for evaluation or prediction."""
    names = [node.name for node in site.parents if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    statement = site.statement
    if isinstance(statement, ast.Assign):
        names += [name_of(target) for target in statement.targets]
    for node, inner in site.outwards:
        is_else = isinstance(node, ast.If) and any(inner is each for each in node.orelse)
        if is_else and any("train" in name_of(p.node) for p in walk(site.scope, node.test)):  # type: ignore[attr-defined]
            return False
    for test in site.conditions:
        names += [name_of(part.node) for part in walk(site.scope, test)]
        names += [literal_text(part.node) or "" for part in walk(site.scope, test)]
    return not any(word in name.lower() for name in names for word in NOT_TRAINING)


_BATCHING = {"batch": 1, "padded_batch": 3, "map_and_batch": 3}
"""Methods, and the position of ``drop_remainder``."""


@recognises(pipeline.batch_without_drop_remainder, tuple(_BATCHING))
def short_last_batch(context: Context) -> None:
    """A batch of a dataset without ``drop_remainder=True``."""
    meaning = context.meaning
    for site, call in _batches(meaning):
        name = name_of(call.func)
        if any(k.arg is None for k in call.keywords):
            continue
        given = argument(call, "drop_remainder", _BATCHING[name])
        is_false = given is None or meaning.constant(site.scope, given) is False
        if not is_false or not is_for_training(site):
            continue
        size = argument(call, "batch_size", 1 if name == "map_and_batch" else 0)
        is_whole = isinstance(size, ast.Call) and name_of(size.func) == "len"
        if is_whole or meaning.constant(site.scope, size) == 1:
            continue
        text = (
            "{} without drop_remainder=True: after an endless repeat no batch is short, but "
            "the first dimension of the batch is unknown, and the graph is compiled for "
            "dynamic shapes"
            if _is_endless(meaning, site.scope, call.func)
            else "{} without drop_remainder=True: the last batch may be shorter, and the graph is "
            "compiled for dynamic shapes"
        )
        context.report(call, text, name)


_OF_THE_CLASS = ("data.Dataset.batch", "data.Dataset.padded_batch")
"""The methods as functions of the class, whose first argument is the dataset."""


def _batches(meaning: Meaning) -> Iterator[Tuple[Site, ast.Call]]:
    """The calls that batch a dataset, each written as one of its methods."""
    for site in meaning.dataset_calls:
        call = site.node
        if name_of(call.func) in _BATCHING:
            is_function = meaning.tf(site.scope, call.func) in _OF_THE_CLASS
            yield site, _as_method(call.func, call) if is_function else call
    for site in meaning.calls("partial"):
        made = site.node
        if made.args and meaning.tf(site.scope, made.args[0]) in _OF_THE_CLASS:
            for used in _calls_of(meaning, site, made):
                yield site, _as_method(made.args[0], made, used)


def _as_method(function: ast.expr, *calls: ast.Call) -> ast.Call:
    """The call of a method that a call of the class, or of a ``partial`` of it, comes to."""
    given = [each for call in calls for each in call.args if each is not function]
    keywords = [each for call in calls for each in call.keywords]
    return ast.copy_location(ast.Call(function, given[1:], keywords), calls[0])


def _calls_of(meaning: Meaning, site: Site, made: ast.Call) -> List[ast.Call]:
    """The calls of what ``partial`` gives: at once, by ``apply``, or under a name."""
    parent = site.parents[-1]
    if isinstance(parent, ast.Call):
        is_called = parent.func is made or name_of(parent.func) == "apply"
        return [parent] if is_called else []
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    named = (each for target in targets for each in meaning.calls(name_of(target)))
    found = [(each.scope, each.node) for each in named]
    values = [(call, meaning.value(scope, call.func)) for scope, call in found]
    return [call for call, value in values if value is not None and value.node is made]


def _is_endless(meaning: Meaning, scope: Scope, node: ast.expr) -> bool:
    """True for a method of a dataset that is certainly repeated without an end."""
    while isinstance(node, ast.Attribute):
        found = meaning.value(scope, node.value)
        if found is None or not isinstance(found.node, ast.Call):
            return False
        scope, node = found.scope, found.node.func
        name = name_of(node)
        if name == "repeat":
            count = argument(found.node, "count", 0)
            return count is None or literal(count) is None or meaning.constant(scope, count) == -1
        if name not in ("shuffle", "map", "prefetch", "cache", "with_options"):
            return False
    return False


_PRODUCERS = frozenset(
    "train." + name
    for name in (
        *("string_input_producer", "slice_input_producer", "range_input_producer"),
        *("input_producer", "batch", "batch_join", "shuffle_batch", "shuffle_batch_join"),
        *("maybe_batch", "maybe_shuffle_batch"),
    )
) | frozenset("contrib.training." + name for name in ("bucket", "bucket_by_sequence_length"))
_QUEUES = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue")


_READERS = (
    *("TFRecordReader", "TextLineReader", "WholeFileReader", "FixedLengthRecordReader"),
    *("DatasetDataProvider", "ParallelReader", "parallel_read", "QueueRunner"),
)
"""What reads queues, so that starting them is no relic."""


@recognises(
    pipeline.queue_input,
    (*(name.rpartition(".")[2] for name in _PRODUCERS), *_QUEUES, "start_queue_runners"),
)
def queues(context: Context) -> None:
    """Queues of TensorFlow."""
    meaning = context.meaning
    names = [name.rpartition(".")[2] for name in _PRODUCERS]
    made = [
        site
        for site in meaning.calls(*names, *_QUEUES)
        if meaning.called(site) in _PRODUCERS
        or (
            (meaning.called(site) or "").rpartition(".")[2] in _QUEUES
            and argument(site.node, "shared_name", 9) is None
        )
    ]
    if not made and context.mentions(*_READERS):
        started = meaning.calls("start_queue_runners")
        made = [each for each in started if meaning.called(each) == "train.start_queue_runners"]
    if made:
        others = sorted({site.line for site in made[1:]} - {made[0].line})
        name = name_of(made[0].node.func)
        text = (
            phrase("data is read through queues ({}), which the NPU does not support", name)
            if not others
            else phrase(
                "data is read through queues ({}; the same in line {}), which the NPU does not "
                "support",
                name,
                ", ".join(map(str, others[:5])),
            )
        )
        context.report(made[0].node, text)


@recognises(pipeline.train_batch_with_many_threads, ("batch",))
def many_threads(context: Context) -> None:
    """``tf.train.batch`` is called with more than one thread."""
    for site in context.meaning.calls("batch"):
        if context.meaning.called(site) != "train.batch":
            continue
        given = argument(site.node, "num_threads", 2)
        count = context.meaning.constant(site.scope, given)
        if isinstance(count, (int, float)) and count > 1:
            context.report(
                given or site.node,
                "tf.train.batch uses {} threads; the NPU needs one thread",
                int(count),
                severity=Severity.WARNING,
            )
