"""Calls of npu_config itself that Python would refuse: a wrong name, argument or target."""

import ast
import inspect
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.own_api import CONSTRUCTORS, METHODS
from npu_config.core.diagnostics import Fix, Place
from npu_config.core.message import listed, phrase
from npu_config.core.target import MODES, Product, Target
from npu_config.rules.tasks import Tasks
from npu_config.script._rules import OWN_CALL
from npu_config.script.constants import is_known
from npu_config.script.objects import Unknown
from npu_config.script.state import Call, Run, evaluate
from npu_config.text.words import is_slip, near


def _tasks() -> Iterator[Any]:
    for name in dir(Tasks):
        function = getattr(Tasks, name)
        if not name.startswith("_") and inspect.isfunction(function):
            signature = inspect.signature(function)
            yield name, signature.replace(parameters=list(signature.parameters.values())[1:])


TASKS: Mapping[str, inspect.Signature] = dict(_tasks())
"""The methods of NpuConfigBuilder that set options."""

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def is_ours(run: Run, call: Call) -> bool:
    """True for a call of what is imported from npu_config, and not from a file of that name."""
    function = evaluate(run, call.node.func)
    return (
        isinstance(function, Unknown)
        and function.path[:1] == ("npu_config",)
        and not run.script.has_module("npu_config")
    )


def judge_constructor(run: Run, call: Call, name: str) -> None:
    """Note what is wrong with the arguments of a constructor of npu_config."""
    _judge(run, call, name, CONSTRUCTORS[name])
    if name == "Target":
        _judge_target(run, call)


def judge_method(run: Run, call: Call) -> None:
    """Note what is wrong with a call of a method of NpuConfigBuilder or NpuConfig."""
    methods: Dict[str, inspect.Signature] = {**TASKS, **METHODS}
    if call.name in methods:
        _judge(run, call, call.name, methods[call.name])
    elif not call.name.startswith("_"):
        place = name_place(run, call)
        meant = near(call.name, methods)
        _note(
            run,
            phrase('NpuConfigBuilder and NpuConfig have no method "{}"', call.name),
            place,
            meant=meant,
            help=None if meant else phrase("legal: {}", listed(sorted(methods))),
            fix=renaming(place, call.name, meant),
            consequence="Python raises AttributeError",
        )


def judge_mapping(run: Run, value: Any, node: ast.expr) -> None:
    """Note that something else is given than a mapping of options."""
    message = phrase("options are a mapping of name to value, not {}", type(value).__name__)
    help = 'write {"precision_mode": "allow_mix_precision"}'
    _note(run, message, run.place(node), help=help, consequence="Python raises TypeError")


def name_place(run: Run, call: Call) -> Place:
    """Where the name of a method is, without what it is called on."""
    place = run.place(call.node.func)
    column = (place.end_column or 1) - len(call.name)
    return place._replace(line=place.end_line, column=column)


def renaming(place: Place, name: str, meant: Optional[str]) -> Optional[Fix]:
    """The fix that writes the name that can only be meant."""
    if meant is None or not is_slip(name, meant):
        return None
    return Fix.writing(place, meant, phrase('rename to "{}"', meant))


def _note(run: Run, message: str, place: Place, **more: Any) -> None:
    run.refused.append((OWN_CALL.diagnostic(message, place, **more), tuple(run.guards)))


def _judge(run: Run, call: Call, name: str, signature: inspect.Signature) -> None:
    parameters = signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    names = [n for n, parameter in parameters.items() if parameter.kind in _NAMED]
    raises = "Python raises TypeError"
    if len(call.args) > len(names) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        extra = call.args[len(names)][1]
        message = phrase("{} takes no more values than {}", name, listed(names))
        if not names:
            message = phrase("{} takes no value without a name", name)
        _note(run, message, run.place(extra), help="remove it", consequence=raises)
    unknown: Sequence[str] = ()
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [keyword for keyword in call.keywords if keyword not in names]
        _judge_unknown(run, call, name, names, unknown)
    for number, keyword in enumerate(names[: len(call.args)]):
        if keyword in call.keywords:
            place = run.place(call.args[number][1])
            message = phrase('{} is given "{}" twice', name, keyword)
            _note(run, message, place, help="give it once", consequence=raises)
    given = {*names[: len(call.args)], *call.keywords}
    missing = [
        n for n in names if parameters[n].default is inspect.Parameter.empty and n not in given
    ]
    if missing and not call.open and not unknown:
        message = phrase('{} needs "{}", which is not given', name, missing[0])
        help = phrase("write {}=...", missing[0])
        _note(run, message, run.place(call.node), help=help, consequence=raises)


def _judge_unknown(
    run: Run, call: Call, name: str, names: Sequence[str], unknown: Sequence[str]
) -> None:
    """Note arguments that there are not; options among them once, since one call sets them all."""
    source = run.script.source
    options = False
    for keyword in unknown:
        place = source.keyword_place(keyword, run.place(call.keywords[keyword][1]))
        meant = near(keyword, names)
        option = keyword if keyword in OPTIONS else near(keyword, OPTIONS)
        help: Optional[str] = None
        if meant is None and keyword in CONSTRUCTORS["Target"].parameters and "target" in names:
            help = phrase("write target=npu_config.Target({}=...)", keyword)
        elif meant is None and option is not None:
            help = phrase("options are set by NpuConfigBuilder().set({}=...).build()", option)
            if options:
                continue
            options = True
        elif meant is None:
            help = "correct the name, or remove it"
        legal = listed(names) if names else "none"
        _note(
            run,
            phrase('{} has no argument "{}"; legal: {}', name, keyword, legal),
            place,
            meant=meant,
            help=help,
            fix=renaming(place, keyword, meant) if source.at(place) == keyword else None,
            consequence="Python raises TypeError",
        )


def _judge_target(run: Run, call: Call) -> None:
    """Note what Target refuses: one of its values, else all of them together."""
    known: Dict[str, Any] = {}
    nodes: Dict[str, ast.expr] = {}
    for number, name in enumerate(CONSTRUCTORS["Target"].parameters):
        value, node = call.get(name, number) or (None, call.node)
        if isinstance(value, Unknown) and value.path[-2:-1] == ("Product",):
            value = getattr(Product, value.name, None)
        if value is None or not (is_known(value) or isinstance(value, Product)):
            continue
        known[name], nodes[name] = value, node
        problem = _refusal({name: value})
        if problem:
            known.pop(name)
            legal = MODES if name == "mode" else [each.value for each in Product]
            meant = near(str(value), legal) if name in ("product", "mode") else None
            _refuse(run, problem, node, meant)
    problem = _refusal(known)
    if problem:
        _refuse(run, problem, call.node)


def _refuse(run: Run, problem: str, node: ast.expr, meant: Optional[str] = None) -> None:
    help = None if meant else "give one that is legal, or leave it out"
    raises = "Target raises ValueError"
    _note(run, problem, run.place(node), meant=meant, help=help, consequence=raises)


def _refusal(arguments: Mapping[str, Any]) -> Optional[str]:
    """Why Target refuses some arguments; None when it takes them."""
    try:
        Target(**arguments)
    except (TypeError, ValueError, AttributeError) as error:
        return error.args[0] if error.args else str(error)
    return None
