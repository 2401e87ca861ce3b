"""Calls of npu_config itself that Python would refuse: a wrong name, argument or target."""

import ast
import inspect
from typing import Any, Dict, Mapping, Optional

from npu_config.catalogue.own_api import CONSTRUCTORS, METHODS
from npu_config.core.call_faults import call_faults, named_parameters
from npu_config.core.diagnostics import Fix, Place
from npu_config.core.message import listed, phrase
from npu_config.core.target import MODES, Product, Target
from npu_config.rules.own_names import hint_for_keyword
from npu_config.rules.tasks import TASKS
from npu_config.script._rules import own_call_refused
from npu_config.script.constants import is_known
from npu_config.script.objects import Unknown
from npu_config.script.state import Call, Run, evaluate
from npu_config.text.words import is_typo, meant_names, near

SIGNATURES: Mapping[str, inspect.Signature] = {
    **METHODS,
    **{name: inspect.signature(task) for name, task in TASKS.items()},
}
"""Method of NpuConfigBuilder or NpuConfig to what it takes."""


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
    if call.name in SIGNATURES:
        _judge(run, call, call.name, SIGNATURES[call.name])
    elif not call.name.startswith("_"):
        place = name_place(run, call)
        names = meant_names(call.name, SIGNATURES)
        meant = names[0] if len(names) == 1 else None
        help = phrase("legal: {}", listed(sorted(names or SIGNATURES)))
        _note(
            run,
            phrase('NpuConfigBuilder and NpuConfig have no method "{}"', call.name),
            place,
            meant=meant,
            help=None if meant else help,
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
    if meant is None or not is_typo(name, meant):
        return None
    return Fix.writing(place, meant, phrase('rename to "{}"', meant))


def _note(run: Run, message: str, place: Place, **more: Any) -> None:
    run.refused.append((own_call_refused.diagnostic(message, place, **more), tuple(run.guards)))


def _judge(run: Run, call: Call, name: str, signature: inspect.Signature) -> None:
    faults = call_faults(name, signature, len(call.args), list(call.keywords))
    names = named_parameters(signature)
    legal = listed(names) if names else "none"
    options = False
    for fault in faults:
        place = run.place(call.node)
        message = fault.message
        if fault.kind == "unknown":
            message = phrase("{}; legal: {}", message, legal)
            value = run.place(call.keywords[fault.name][1])
            place = run.script.source.keyword_place(fault.name, value)
            meant, help, is_option = hint_for_keyword(fault.name, names)
            if is_option and options:
                continue  # one call sets all of them
            options = options or is_option
            more = _correction(run, place, fault.name, meant, help)
        elif fault.kind == "missing":
            if call.open:
                continue
            more = {"help": phrase("write {}=...", fault.name)}
        else:
            place = run.place(call.args[fault.position][1])
            more = {"help": "give it once" if fault.kind == "twice" else "remove it"}
        _note(run, message, place, consequence="Python raises TypeError", **more)


def _correction(
    run: Run, place: Place, keyword: str, meant: Optional[str], help: Optional[str]
) -> Dict[str, Any]:
    """What to do about an argument that there is not."""
    if meant is None:
        return {"help": help or "correct the name, or remove it"}
    written = run.script.source.at(place) == keyword
    return {
        "meant": meant,
        "fix": renaming(place, keyword, meant) if written else None,
    }


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
