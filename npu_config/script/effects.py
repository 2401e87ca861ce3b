"""What is done with names and objects on a path: read, set, called, given away.

Names and attributes come first, then functions of the script, then the objects that are followed.
"""

import ast
import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

from npu_config.catalogue.api import KEPT, PARAMETERS
from npu_config.core.message import phrase
from npu_config.python_flow.scopes import Scope, Store, Watch, defaults_of, is_open, positional
from npu_config.python_flow.source import ScriptSource
from npu_config.script import builders
from npu_config.script.builders import Builder
from npu_config.script.objects import (
    CHANGING,
    Block,
    BlockList,
    Class,
    Constructed,
    EnumName,
    Function,
    Instance,
    Message,
    ParameterMap,
    Record,
    Subscript,
    Tracked,
    Unknown,
    Use,
    is_known,
)
from npu_config.script.paths import (
    RETURN,
    Again,
    Call,
    Frame,
    Run,
    anonymous,
    entered,
    evaluate_in,
    execute,
    identity,
    result_of,
    used,
)
from npu_config.script.script import Script
from npu_config.script.vocabulary import ENUMS, KIND_OF, OWNER_OF


def lookup(run: Run, name: str, line: int = 0) -> Any:
    """What a name is bound to where the path has come to.

    Args:
        run: the path.
        name: the name.
        line: where it is read; a function that binds it in later lines only has no value for it.
    """
    frame: Optional[Frame] = run.frame
    while frame is not None:
        if name in frame.variables:
            value = frame.variables[name]
            if isinstance(value, Unknown) or name not in run.script.global_names:
                return value
            return _local(name, frame) if is_known(value) and value is not None else value
        if frame is not run.module and name in frame.global_names:
            frame = frame.parent
            continue
        stores = frame.stores.get(name)
        if stores and frame is run.frame and frame is not run.module and _are_later(stores, line):
            return _local(name, frame)
        if stores:
            value = _bound_unseen(run, frame, name, stores)
            if value is not None:
                return value
        frame = frame.parent
    return "__main__" if name == "__name__" else run.script.reference(name)


def is_fixed(run: Run, name: str, value: Any) -> bool:
    """True when a name has its value from one import or fixed value, wherever a path goes."""
    if name in run.script.global_names:
        return False
    frame = run.frame
    while frame.parent is not None:
        if name in frame.variables or name in frame.stores or name in frame.scope.parameters:
            return False
        frame = frame.parent
    stores = frame.stores.get(name, ())
    if len(stores) != 1:
        return False
    kind, node, _ = stores[0]
    return kind == "import" or (kind == "value" and run.fixed.get(node) is value)


def _are_later(stores: List[Store], line: int) -> bool:
    """True when everything that binds a name comes after a line."""
    return all(0 < line < getattr(store.node, "lineno", 0) for store in stores)


def _local(name: str, frame: Frame) -> Unknown:
    return Unknown("{}@{}".format(name, frame.serial), (name,))


def _bound_unseen(run: Run, frame: Frame, name: str, stores: List[Store]) -> Any:
    """A binding whose statement was skipped, when there is but one; else unknown."""
    if name in run.script.global_names:
        return _local(name, frame)
    if all(store.kind == "import" for store in stores):
        found = run.script.reference(stores[-1].text)
        if len(stores) == 1:
            frame.variables[name] = found
        return found
    if len(stores) > 1:
        kinds = {store.kind for store in stores} if run.wanting else set()
        if kinds & {"value", "item"} and name not in frame.scope.watched:
            frame.scope.watch(name, Watch.ALL)
            raise Again
        return _local(name, frame)
    kind, node, _ = stores[0]
    if kind == "definition":
        frame.variables[name] = definition(frame, node)
        return frame.variables[name]
    unknown = _local(name, frame)
    if kind != "value":
        return unknown
    frame.variables[name] = unknown
    value = evaluate_in(run, frame, node)
    if isinstance(value, (list, dict)) and is_changed(run.script.source, name):
        value = unknown
    if isinstance(value, Constructed) and name not in frame.scope.watched:
        frame.scope.watch(name, interest_in(value))
        raise Again
    frame.variables[name] = value
    return value


_CHANGING = "|".join(sorted({each for names in CHANGING.values() for each in names}))


def is_changed(source: ScriptSource, name: str) -> bool:
    """True when a list or dict may be changed after it was made."""
    pattern = re.compile(
        r"(?<!\w){0}\s*(?:\.\s*(?:{1})\b|\[[^\[\]]*\]\s*[-+*/|&]?=(?!=))"
        r"|\bdel\b.*(?<!\w){0}\s*\[".format(re.escape(name), _CHANGING)
    )
    return any(pattern.search(source.lines[line - 1]) for line in source.mentions(name))


def definition(frame: Frame, node: ast.AST) -> Any:
    """The function or class that a definition makes."""
    if isinstance(node, ast.ClassDef):
        return Class(node, frame.scope.child(node), frame)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return Function(node, frame.scope.child(node), frame)
    return Unknown("definition")


_FIXED = (Unknown, EnumName)


def attribute_of(run: Run, owner: Any, node: ast.Attribute) -> Any:
    """``owner.name``, as an expression says it that is not known to be fixed."""
    found = attribute(run, owner, node.attr, node)
    if node.value in run.fixed and found.__class__ in _FIXED:
        run.fixed[node] = found
    return found


def attribute(run: Run, owner: Any, name: str, node: ast.AST) -> Any:
    """``owner.name``."""
    if isinstance(owner, Unknown):
        return _of_unknown(run, owner, name, node)
    if isinstance(owner, Message):
        return field(run, owner, name, node)
    if isinstance(owner, Block):
        if name == "parameter_map":
            run.script.followed.add(node)
            return ParameterMap(owner)
        return owner.name if name == "name" and owner.names else anonymous(node)
    if isinstance(owner, Instance):
        return _of_instance(run, owner, name)
    if isinstance(owner, Constructed):
        if name == "__dict__" and owner.kind in PARAMETERS:
            owner.open = True
            run.script.unfollowed[node] = UNFOLLOWED
        argument = owner.arguments.get(name.lstrip("_"))
        return argument.value if argument else anonymous(node)
    if isinstance(owner, Class):
        return of_class(run, owner, name)
    if isinstance(owner, Record) and name in owner.attributes:
        value = owner.attributes[name]
        return Record(value) if isinstance(value, dict) else value
    if name == "side_files" and isinstance(owner, Builder):
        owner.has_writer.append(True)
    if name == "value" and is_known(owner):
        return owner  # a member of an Enum, which is what its class binds it to
    return anonymous(node)


def member(owner: Unknown, name: str) -> Unknown:
    """An attribute of an unknown value, or of one that is known by its key alone."""
    path = (*(owner.path or ("",)), name)
    return Unknown("{}.{}".format(owner.key, name), path, (owner,), flag=name)


def _of_unknown(run: Run, owner: Unknown, name: str, node: ast.AST) -> Any:
    kind = OWNER_OF.get(name)
    if kind is not None:
        return field(run, adopt(run, owner, kind, node), name, node)
    if name == "parameter_map":
        run.script.followed.add(node)
        return ParameterMap(adopt_block(run, owner, node))
    if name.isupper() and owner.name in ENUMS:
        return EnumName(name)
    return member(owner, name)


def adopt(run: Run, value: Unknown, kind: str, node: ast.AST) -> Message:
    """The message that an unknown value must be, always the same for the same value."""
    found = run.adopted.get(value.key)
    if not isinstance(found, Message):
        found = run.adopted[value.key] = run.new_message(kind, node, foreign=True)
        found.path = ()
        found.uses.append(Use("elsewhere", found.place, found.moment))
    return found


def adopt_block(run: Run, value: Unknown, node: ast.AST) -> Block:
    """The entry of custom_optimizers that an unknown value must be."""
    found = run.adopted.get(value.key)
    if not isinstance(found, Block):
        found = run.adopted[value.key] = run.new_block(None, node)
        found.path = ()
        found.open = True
        found.names.append((Unknown("name"), found.place))
    return found


def field(run: Run, message: Message, name: str, node: ast.AST) -> Any:
    """A field of a message; a part that is not there yet is made."""
    if name == "custom_optimizers":
        return BlockList(message)
    if name in message.fields:
        return message.fields[name]
    kind = KIND_OF.get(name)
    if kind is None:
        unknown = Unknown("{}.{}".format(identity(message), name))
        if name == "optimizers":
            message.fields[name] = unknown
        return unknown
    part = Message(node, message.place, run.tick(), kind, message.foreign, message)
    message.fields[name] = part
    return part


def part(run: Run, message: Any, name: str, node: ast.AST) -> Optional[Message]:
    """A field of a message that is a message itself; None where it is certainly none."""
    found = field(run, message, name, node) if isinstance(message, Message) else None
    return found if isinstance(found, Message) else None


def _of_instance(run: Run, owner: Instance, name: str) -> Any:
    """``self.name``: what this path assigned, else what one method certainly assigns."""
    unknown = Unknown("{}.{}".format(owner.key, name), ("", name))
    if name in owner.attributes:
        value = owner.attributes[name]
        script = owner.cls.frame.script
        return unknown if is_known(value) and script.times_set(name) > 1 else value
    given = _of_fields(run, owner, name)
    if given is not None:
        return given[0]
    found = of_class(run, owner.cls, name)
    if isinstance(found, Function):
        bound = Function(found.node, found.scope, found.frame)
        bound.receiver = owner.whole or owner
        return bound
    if not isinstance(found, Unknown):
        return found
    classes = lineage(run, owner.cls)
    stores = [
        (cls, store)
        for cls in classes
        for store in cls.frame.script.attribute_stores(cls.scope).get(name, ())
    ]
    if len(stores) != 1 or stores[0][1].value is None:
        strangers = tuple(each for cls in classes for each in cls.strangers)
        unknown.parts = (*strangers, *filter(None, [owner.origin]))
        return unknown
    owner.attributes[name] = unknown
    cls, store = stores[0]
    frame = _as_made(run, owner, cls, 0) if _is_constructor(store.scope.node) else None
    if frame is None:
        frame = run.new_frame(store.scope, cls.frame, unknown.key)
        frame.variables[store.receiver] = owner
        bind_unknown(frame, store.scope.node)
    value = evaluate_in(run, frame, store.value)
    owner.attributes[name] = unknown if isinstance(value, Tracked) else value
    return _of_instance(run, owner, name)


def _of_fields(run: Run, owner: Instance, name: str) -> Optional[Tuple[Any]]:
    """What an object of a class without a constructor was made with: of a dataclass, a NamedTuple.

    None where the class says what an attribute is.
    """
    args, keywords, is_open = owner.given or ([], {}, False)
    if not (args or keywords or is_open):
        return None
    classes = lineage(run, owner.cls)
    if any("__init__" in each.scope.stores for each in classes):
        return None
    if name in keywords:
        return (keywords[name],)
    fields = [
        getattr(each.target, "id", "")
        for cls in reversed(classes)
        for each in cls.node.body
        if isinstance(each, ast.AnnAssign)
    ]
    if is_open and name in fields:
        return (Unknown("{}.{}".format(owner.key, name), ("", name)),)
    return (args[fields.index(name)],) if name in fields[: len(args)] else None


def _is_constructor(node: Any) -> bool:
    return getattr(node, "name", "") == "__init__"


def _as_made(run: Run, owner: Instance, cls: Class, depth: int) -> Optional[Frame]:
    """The parameters of the constructor of a class as they were when an object was made.

    Args:
        run: the path.
        owner: the object.
        cls: its class, or one that this inherits from, whose constructor that one calls.
        depth: how many constructors called each other so far.
    """
    makers = [each for each in lineage(run, owner.cls) if "__init__" in each.scope.stores]
    numbers = [number for number, each in enumerate(makers) if each.node is cls.node]
    if owner.given is None or not numbers or depth > _DEPTH:
        return None
    function = of_class(run, makers[numbers[0]], "__init__")
    if not isinstance(function, Function):
        return None
    function.receiver = owner
    frame = run.new_frame(function.scope, function.frame, "{}.__init__".format(owner.key))
    if numbers[0] == 0:
        _bind_parameters(run, function, frame, *owner.given)
        return frame
    caller = makers[numbers[0] - 1]
    outer = _as_made(run, owner, caller, depth + 1)
    calls = [] if outer is None else list(_calls_of_constructor(outer.scope.node))
    if outer is None or len(calls) != 1 or is_open(calls[0]):
        return None
    args = [evaluate_in(run, outer, each) for each in calls[0].args]
    if not isinstance(calls[0].func.value, ast.Call):  # type: ignore[attr-defined]
        del args[:1]  # Base.__init__(self, ...)
    keywords = {each.arg or "": evaluate_in(run, outer, each.value) for each in calls[0].keywords}
    _bind_parameters(run, function, frame, args, keywords, False)
    return frame


def _calls_of_constructor(function: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "__init__"
        ):
            yield node


def lineage(run: Run, cls: Class) -> List[Class]:
    """A class and those that it inherits from, as far as they are followed, the nearest first."""
    if cls.above is None:
        cls.above = []
        for base in cls.node.bases:
            value = evaluate_in(run, cls.frame, base)
            if isinstance(value, Class):
                known = {cls.node, *(each.node for each in cls.above)}
                cls.above += [e for e in lineage(run, value) if e.node not in known]
                cls.strangers += value.strangers
            elif isinstance(value, Unknown) and value.key != "object":
                cls.strangers += (value,)
    return [cls, *cls.above]


def above(run: Run, owner: Any, scope: Scope) -> Optional[Instance]:
    """``super()`` in a method of a class: the object as those above the class see it."""
    classes = lineage(run, owner.cls) if isinstance(owner, Instance) else []
    for cls, base in zip(classes, classes[1:]):
        if cls.scope is scope or cls.node is scope.node:
            view = Instance(base, owner.key)
            view.attributes, view.whole = owner.attributes, owner.whole or owner
            view.given, view.origin = owner.given, owner.origin
            return view
    return None


def of_class(run: Run, cls: Class, name: str) -> Any:
    """``Class.name``, its own or that of a class that it inherits from."""
    for each in lineage(run, cls):
        if name in each.scope.stores or name in run.class_bodies.get(each.node, ()):
            return _of_class_alone(run, each, name)
    return Unknown("{}.{}".format(cls.node.name, name), (cls.node.name, name), cls.strangers)


def _of_class_alone(run: Run, cls: Class, name: str) -> Any:
    made = run.class_bodies.get(cls.node, {}).get(name)
    if isinstance(made, (Tracked, BlockList, ParameterMap)):
        return made
    stores = cls.scope.stores.get(name, [])
    if len(stores) == 1:
        frame = run.new_frame(cls.scope, cls.frame, cls.frame.serial)
        if stores[0].kind == "definition":
            found = definition(frame, stores[0].node)
            if isinstance(found, Function):
                found.frame = cls.frame
            return found
        if stores[0].kind == "value" and not cls.frame.script.times_set(name):
            return evaluate_in(run, frame, stores[0].node)
    return Unknown("{}.{}".format(cls.node.name, name), (cls.node.name, name))


_CALLS = 12


def is_relevant(run: Run, function: Function) -> bool:
    """True for a function with hot lines."""
    script: Script = function.frame.script
    return script.relevance.is_hot_function(function.node)


def start(run: Run, value: Any) -> None:
    """A function of the script is given to something that will call it."""
    is_new = isinstance(value, Function) and id(value.node) not in run.visited
    if is_new and is_relevant(run, value):
        used(run, invoke(run, value, [], {}, True), "return")


def invoke(
    run: Run, function: Function, args: List[Any], keywords: Dict[str, Any], is_open: bool
) -> Any:
    """Run a function of the script; ``is_open``: other arguments may be given, too."""
    node = function.node
    if len(run.stack) >= _CALLS or any(active is node for active in run.stack):
        return anonymous(node)
    frame = run.new_frame(function.scope, function.frame)
    _bind_parameters(run, function, frame, args, keywords, is_open)
    run.stack.append(node)
    try:
        if isinstance(node, ast.Lambda):
            return evaluate_in(run, frame, node.body)
        run.visited[id(node)] = True
        with entered(run, frame):
            left = execute(run, node.body)
        value = run.returned if left == RETURN else None
    finally:
        run.stack.pop()
        run.returned = None
    if isinstance(value, (Tracked, Instance, Function, tuple, list)) or value is None:
        return value
    used(run, value, "return")
    if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list or not is_simple(node):
        return result_of(Unknown(node.name, (node.name,)), node.name, args)
    return value


def call_special(run: Run, owner: Any, name: str, args: List[Any]) -> bool:
    """Run a method that Python calls by itself, such as ``__setitem__``; False: there is none."""
    found = of_class(run, owner.cls, name) if isinstance(owner, Instance) else None
    if name == "__setattr__" and isinstance(owner, Instance) and not isinstance(found, Function):
        found, args = _setter(owner.cls, args[0]), args[1:]
    if not isinstance(found, Function) or not is_relevant(run, found):
        return False
    found.receiver = owner
    invoke(run, found, args, {}, False)
    return True


def _setter(cls: Class, name: Any) -> Optional[Function]:
    """The setter of a property."""
    for store in cls.scope.stores.get(name, ()):
        decorators = getattr(store.node, "decorator_list", ())
        if any(isinstance(each, ast.Attribute) and each.attr == "setter" for each in decorators):
            return Function(store.node, cls.scope.child(store.node), cls.frame)
    return None


SPECIAL = ("__setattr__", "__setitem__", "__call__")
"""The methods that Python calls by itself, and that may set options."""


def bind_unknown(frame: Frame, node: Any) -> None:
    """Bind the parameters of a function that have no value to what cannot be known."""
    arguments = node.args
    parameters = [*positional(arguments), *arguments.kwonlyargs]
    for parameter in [*parameters, arguments.vararg, arguments.kwarg]:
        if parameter is not None and parameter.arg not in frame.variables:
            key = "{}@{}".format(parameter.arg, frame.serial)
            frame.variables[parameter.arg] = Unknown(key, (parameter.arg,))


def _bind_parameters(
    run: Run,
    function: Function,
    frame: Frame,
    args: List[Any],
    keywords: Dict[str, Any],
    is_open: bool,
) -> None:
    arguments = function.node.args
    if function.receiver is not None and not _is_static(function.node):
        args = [function.receiver, *args]
    names = [parameter.arg for parameter in positional(arguments)]
    by_keyword = [parameter.arg for parameter in arguments.kwonlyargs]
    given = dict(zip(names, args))
    given.update((name, keywords[name]) for name in names + by_keyword if name in keywords)
    if not is_open:
        of_keywords = dict(zip(by_keyword, arguments.kw_defaults))
        for name, default in {**defaults_of(arguments), **of_keywords}.items():
            if name not in given and default is not None:
                given[name] = evaluate_in(run, function.frame, default)
    if arguments.kwarg is not None and not is_open:
        frame.variables[arguments.kwarg.arg] = {
            name: value for name, value in keywords.items() if name not in given
        }
    for name, value in given.items():
        frame.variables[name] = value
        is_set_again = name in function.scope.stores
        function.scope.watch(name, Watch.ALL if is_set_again else interest_in(value))
    bind_unknown(frame, function.node)


def interest_in(value: Any) -> Watch:
    """Which statements matter where a name is bound to a value."""
    if isinstance(value, Tracked):
        has_options = isinstance(value, Constructed) and value.kind in (*KEPT, "AttrValue")
        return Watch.ALL if has_options else Watch.HANDLED
    if isinstance(value, (BlockList, ParameterMap, Subscript)):
        return Watch.ALL
    if isinstance(value, Instance):
        if value.cls.is_special is None:
            stores = value.cls.scope.stores
            has_setters = any(
                len(each) > 1 and each[0].kind == "definition" for each in stores.values()
            )
            value.cls.is_special = has_setters or any(name in stores for name in SPECIAL)
        return Watch.ALL if value.cls.is_special else Watch.METHODS
    return Watch.NOT


def _is_static(node: Any) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)


def is_simple(node: Any) -> bool:
    """True for a function that does nothing but to return a value."""
    body = node.body
    if isinstance(body[0], ast.Expr) and not isinstance(body[0].value, ast.Call):
        body = body[1:]
    return len(body) == 1 and isinstance(body[0], ast.Return)


_DEPTH = 4
READERS = frozenset(("print", "str", "repr", "type", "isinstance", "len", "id", "info", "pprint"))
_HARMLESS = frozenset((Unknown, str, bytes, bool, int, float, type(None)))
_LIBRARIES = (
    "tf",
    "tf1",
    "tensorflow",
    "keras",
    "K",
    "slim",
    "session",
    "npu_bridge",
    "estimator",
)


def pass_on(run: Run, call: Call, name: str = "") -> None:
    """Objects go to a function that is not known: it may use and change them."""
    for value in call.given:
        if value.__class__ not in _HARMLESS:
            give_away(run, value, name or call.name)


def give_away(run: Run, value: Any, name: str, depth: int = 0) -> None:
    """An object is passed to a function that is not known."""
    if value.__class__ in _HARMLESS:
        return
    if isinstance(value, (ParameterMap, Subscript)):
        value = value.block
    if isinstance(value, BlockList):
        value = value.message
    if isinstance(value, Function):
        start(run, value)
    elif isinstance(value, (list, tuple, dict)):
        if depth < _DEPTH:
            for item in value.values() if isinstance(value, dict) else value:
                give_away(run, item, name, depth + 1)
    elif isinstance(value, Tracked) and name.rpartition(".")[2] not in READERS:
        value.uses.append(Use(name, value.place, run.tick()))
        if isinstance(value, builders.Builder):
            value.has_writer.append(True)
        if name.partition(".")[0] not in _LIBRARIES:
            if isinstance(value, Block):
                value.open = True
            elif isinstance(value, Message):
                for block in value.root.blocks:
                    block.open = True


UNFOLLOWED = phrase(
    "options are set here in a way that this check cannot follow; they are not checked"
)
"""What is said where nothing more is known."""
