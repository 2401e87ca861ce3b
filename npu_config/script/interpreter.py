"""Statements: one path through a script."""

import ast
import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from npu_config.script import constants, effects
from npu_config.script.constants import NotKnown, is_known
from npu_config.script.evaluator import in_brackets
from npu_config.script.functions import LEAVE, ON, RETURN, STOP, Functions, interest_in
from npu_config.script.names import Frame
from npu_config.script.objects import (
    Block,
    BlockList,
    Class,
    Constructed,
    Function,
    Instance,
    Message,
    ParameterMap,
    Subscript,
    Tracked,
    Unknown,
    Use,
)
from npu_config.script.paths import Condition
from npu_config.script.scopes import FunctionNode, Scope, Watch

_ITEMS = 64
_DEPTH = 4


class Run(Functions):
    """One path through a script, from one starting point."""

    def run_module(self) -> None:
        """Run the statements of the module."""
        self.body(self.script.tree.body)

    def run_function(self, scope: Scope, node: FunctionNode) -> None:
        """Run the module, and then a function with arguments that cannot be known."""
        self.run_module()
        frame = self._frame_of(scope)
        receiver: Optional[Instance] = None
        if isinstance(scope.node, ast.ClassDef):
            cls = Class(scope.node, scope, frame)
            receiver = Instance(cls, "self")
            self._construct(cls, receiver, node)
        self.frame = self.module
        function = Function(node, scope.child(node), frame)
        function.receiver = receiver
        self.invoke(function, [], {}, True)

    def _frame_of(self, scope: Scope) -> Frame:
        """A frame for the scope that a function is defined in, with nothing run in it."""
        if scope is self.script.module:
            return self.module
        assert scope.parent is not None
        parent = self._frame_of(scope.parent)
        if isinstance(scope.node, ast.ClassDef):
            return parent
        frame = self.new_frame(scope, parent)
        self._bind_unknown(frame, scope.node)
        return frame

    def _construct(self, cls: Class, instance: Instance, node: ast.AST) -> None:
        stores = cls.scope.stores.get("__init__", [])
        if (
            stores
            and stores[-1].node is not node
            and self.script.relevance.is_hot_function(stores[-1].node)
        ):
            function = self._class_attribute(cls, "__init__")
            if isinstance(function, Function):
                function.receiver = instance
                self.invoke(function, [], {}, True)

    # statements

    def body(self, statements: Sequence[ast.stmt]) -> int:
        """Run the hot statements of a body; says how it was left."""
        depth = len(self.guards)
        scope = self.frame.scope
        hot = self.script.relevance.hot
        left = ON
        position = 0
        version = -1
        while version != scope.version and not left:
            version = scope.version
            for number, statement, has_seed in hot(scope, statements):
                if number < position:
                    continue
                execute = _EXECUTE.get(statement.__class__)
                if execute is None:
                    continue
                self.wanting = has_seed
                self.count_step()
                left = execute(self, statement)
                position = number + 1
                if left or version != scope.version:
                    break
        del self.guards[depth:]
        return left

    def _expression(self, statement: ast.Expr) -> int:
        self.value(statement.value)
        return ON

    def _assign(self, statement: ast.Assign) -> int:
        value = self.value(statement.value)
        for target in statement.targets:
            self.bind(target, value, statement.value)
        return ON

    def _annotated(self, statement: ast.AnnAssign) -> int:
        if statement.value is not None:
            self.bind(statement.target, self.value(statement.value), statement.value)
        return ON

    def _augmented(self, statement: ast.AugAssign) -> int:
        target = statement.target
        if isinstance(target, ast.Name):
            old, new = self.lookup(target.id), self.value(statement.value)
            value: Any = self.anonymous(statement)
            if is_known(old) and is_known(new):
                with contextlib.suppress(NotKnown):
                    value = constants.binary(type(statement.op), old, new)
            self.bind(target, value, statement.value)
        else:
            self.value(statement.value)
            self.bind(target, self.anonymous(statement), statement.value)
        return ON

    def bind(self, target: ast.expr, value: Any, node: ast.expr) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            self._bind_name(target.id, value)
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value, node)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._bind_items(target, value, node)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, self.anonymous(target), node)

    def _bind_name(self, name: str, value: Any) -> None:
        frame = self.frame
        if frame is not self.module and name in frame.scope.global_names:
            frame = self.module
            self._used(value, "global")
        frame.scope.watch(name, interest_in(value))
        if isinstance(value, Function) and frame is not self.module:
            frame.scope.watch(name, Watch.ALL)
        elif isinstance(value, (list, tuple, dict)):
            self._used(value, "container")
        old = frame.variables.get(name)
        if isinstance(old, Message) and isinstance(value, Message) and old is not value:
            old.replaced = value.place
        frame.variables[name] = value

    def _bind_attribute(self, target: ast.Attribute, value: Any, node: ast.expr) -> None:
        owner = self.value(target.value)
        if isinstance(owner, Subscript):
            effects.set_field(self, owner, target, value, node)
        elif isinstance(owner, Block):
            if target.attr == "name":
                owner.names.append((value, self.place(node)))
        elif isinstance(owner, Message):
            effects.set_message_field(self, owner, target.attr, value, node)
        elif isinstance(owner, Instance):
            self._used(value, "attribute")
            owner.attributes[target.attr] = value
        elif isinstance(owner, Constructed):
            owner.open = True
            self._used(value, "attribute")
        else:
            self._used(value, "attribute")

    def _bind_item(self, target: ast.Subscript, value: Any) -> None:
        self._used(value, "item")
        owner = self.value(target.value)
        if isinstance(owner, ParameterMap):
            return
        index = self._index(target)
        if isinstance(owner, dict) and is_known(index) and not isinstance(index, (list, dict)):
            owner[index] = value
        elif isinstance(owner, (dict, list)) and isinstance(target.value, ast.Name):
            self._bind_name(target.value.id, self.anonymous(target))

    def _index(self, target: ast.Subscript) -> Any:
        """The value in the brackets; None for a slice."""
        inner = in_brackets(target)
        return None if isinstance(inner, ast.Slice) else self.value(inner)

    def _bind_items(self, target: Any, value: Any, node: ast.expr) -> None:
        targets = target.elts
        if isinstance(value, (tuple, list)) and len(value) == len(targets):
            values = list(value)
        else:
            key = self.key(value)
            values = [Unknown("{}[{}]".format(key, index)) for index in range(len(targets))]
        for part, item in zip(targets, values):
            self.bind(part, item, node)

    def _used(self, value: Any, kind: str, depth: int = 0) -> None:
        if isinstance(value, Tracked):
            value.uses.append(Use(kind, value.place, self.tick()))
        elif isinstance(value, (list, tuple, dict)) and depth < _DEPTH:
            for item in value.values() if isinstance(value, dict) else value:
                self._used(item, kind, depth + 1)

    def _delete(self, statement: ast.Delete) -> int:
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self.frame.variables[target.id] = self.anonymous(target)
            elif isinstance(target, ast.Subscript):
                owner = self.value(target.value)
                if isinstance(owner, (ParameterMap, BlockList)):
                    effects.delete(self, owner, self._index(target))
                else:
                    self._bind_item(target, self.anonymous(target))
        return ON

    # control flow

    def _if(self, statement: ast.If) -> int:
        if not self._any_hot(statement.body) and not self._any_hot(statement.orelse):
            return ON
        value, indices = self._test(statement.test)
        taken, other = statement.body, statement.orelse
        if not value:
            taken, other = other, taken
        depth = len(self.guards)
        self.guards += indices
        left = self.body(taken)
        if not _ends(other):
            del self.guards[depth:]
        return left

    def _test(self, test: ast.expr) -> Tuple[bool, List[int]]:
        decisions = self.decisions
        outer, decisions.mark = decisions.mark, len(decisions.touched)
        self.testing = True
        value = self.truth(test)
        self.testing = False
        indices = decisions.touched[decisions.mark :]
        decisions.mark = outer
        return value, indices

    def _any_hot(self, statements: Sequence[ast.stmt]) -> bool:
        """True when a body holds a hot statement, other than those that only leave it."""
        return self.script.relevance.any_hot(self.frame.scope, statements)

    def _while(self, statement: ast.While) -> int:
        value = self.value(statement.test)
        if is_known(value) and not value:
            return self.body(statement.orelse)
        self.decisions.loops += 1
        left = self.body(statement.body)
        self.decisions.loops -= 1
        return left if left in (RETURN, STOP) else ON

    def _for(self, statement: ast.For) -> int:
        for item in self._items(statement.iter):
            self.bind(statement.target, item, statement.iter)
            rounds = int(isinstance(item, Unknown))
            self.decisions.loops += rounds
            left = self.body(statement.body)
            self.decisions.loops -= rounds
            if left in (RETURN, STOP):
                return left
            if left == LEAVE:
                break
        return self.body(statement.orelse)

    def _items(self, node: ast.expr) -> Iterator[Any]:
        """What a loop runs over: known items one by one, else one item that is not known."""
        value = self.value(node)
        if isinstance(value, dict):
            value = list(value)
        if isinstance(value, (list, tuple)) and len(value) <= _ITEMS:
            yield from list(value)
        elif isinstance(value, BlockList):
            yield from list(value.message.root.blocks)
            if value.message.root.foreign:
                yield self.adopt_block(Unknown("{}[]".format(id(value.message))), node)
        else:
            yield Unknown("{}[]".format(self.key(value)))

    def _with(self, statement: ast.With) -> int:
        for item in statement.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, item.context_expr)
        return self.body(statement.body)

    def _try(self, statement: ast.Try) -> int:
        left = ON
        handled = any(self._any_hot(handler.body) for handler in statement.handlers)
        if handled and self._fails(statement):
            for handler in statement.handlers:
                if self._any_hot(handler.body):
                    left = self.body(handler.body)
                    break
        else:
            left = self.body(statement.body) or self.body(statement.orelse)
        final = self.body(statement.finalbody)
        return final or left

    def _fails(self, statement: ast.Try) -> bool:
        words = "line {} raises".format(statement.lineno)
        return self.decisions.decide(Condition(words), None, usual=False, words=words)

    def _match(self, statement: Any) -> int:
        subject = self.value(statement.subject)
        for case in statement.cases:
            key = "{} matches line {}".format(self.key(subject), case.pattern.lineno)
            words = "case at line {}".format(case.pattern.lineno)
            if self.decisions.decide(Condition(key), None, words=words):
                return self.body(case.body)
        return ON

    def _return(self, statement: ast.Return) -> int:
        value = None if statement.value is None else self.value(statement.value)
        self._returned = value
        if len(self._stack) <= 1:
            self._used(value, "return")
        return RETURN


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """True when a body never comes to its end."""
    return bool(statements) and isinstance(
        statements[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)
    )


_EXECUTE: Dict[type, Callable[[Any, Any], int]] = {
    ast.Return: Run._return,
    ast.Raise: lambda self, statement: STOP,
    ast.Break: lambda self, statement: LEAVE,
    ast.Continue: lambda self, statement: LEAVE,
    ast.Expr: Run._expression,
    ast.Assign: Run._assign,
    ast.AnnAssign: Run._annotated,
    ast.AugAssign: Run._augmented,
    ast.Delete: Run._delete,
    ast.If: Run._if,
    ast.While: Run._while,
    ast.For: Run._for,
    ast.AsyncFor: Run._for,
    ast.With: Run._with,
    ast.AsyncWith: Run._with,
    ast.Try: Run._try,
}
for _name, _method in (("TryStar", Run._try), ("Match", Run._match)):
    if hasattr(ast, _name):
        _EXECUTE[getattr(ast, _name)] = _method
