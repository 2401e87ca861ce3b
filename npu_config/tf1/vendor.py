"""The vendor's package ``npu_bridge``: its modules and their names, what is taken from it where it
can be imported, and what stands for it where it cannot.

Nothing here is imported before it is used.  A name is looked up in ``npu_bridge.npu_init``
first, whose namespace is what training scripts import, then in the module that defines it.
Where the package cannot be imported, what needs it raises, naming what is missing.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import (
    Any,
    Callable,
    ClassVar,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    TypeVar,
)

from npu_config.core.names import OWN_OPERATOR, OWN_SPANS
from npu_config.tf1._lazy import errors, rules, warn
from npu_config.tf1.tensorflow import internal

PACKAGE = "npu_bridge"
SERVED = "served by npu_config"
"""The origin in the specification of a module that stands in for one of the vendor's."""

_FRONT = PACKAGE + ".npu_init"
OPTIMIZER_MARK = "_npu_config_optimizer"
"""The attribute that tells loss-scale optimizers apart, of what tells that a step is finite."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Home(NamedTuple):
    """Where a name of a vendor's module comes from.

    Attributes:
        source: what the table says.
        name: its name there.
    """

    source: str
    name: str


_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.txt")


def _read(path: str) -> Dict[str, Dict[str, Home]]:
    modules: Dict[str, Dict[str, Home]] = {}
    names: Dict[str, Home] = {}
    source = ""
    with open(path, encoding="utf-8") as table:
        for line in table.read().splitlines():
            if not line.startswith(" "):
                names = modules.setdefault(line, {})
                continue
            head, colon, rest = line.rpartition(": ")
            source = head.strip() if colon else source
            for word in rest.split():
                name, _, there = word.partition("=")
                names[name] = Home(source, there or name)
    return modules


MODULES: Mapping[str, Mapping[str, Home]] = _read(_TABLE)
"""Path of a vendor's module to its names and their homes.

``modules.txt`` has the module paths of ``npu_bridge`` and ``hccl``, and under each the sources of
its names:

- a module of this package (``hooks``), for what it offers under the same name;
- ``npu_init: *``, for every name of ``npu_config.npu_init``;
- ``operators``, for the object with every operator of the adapter's library;
- ``device``, for what only the vendor's library can do: a function that raises when called;
- ``import``, for other modules of the vendor's;
- another path of the table, for what the vendor imports from there.

``name=other`` is a name that its source calls otherwise.

Source: facts modules.yaml, the module paths and names of npu_bridge 2021 to 2026 and hccl.
"""


def is_package(path: str) -> bool:
    """True for a path that has other paths of the table below it."""
    return any(other.startswith(path + ".") for other in MODULES)


def is_available() -> bool:
    """True when the vendor's package can be found; it is not imported.

    A folder without modules is not the vendor's, nor are modules that this package serves under
    the vendor's names (:data:`SERVED`).
    """
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin in (None, "namespace", SERVED):
        return False
    return importlib.machinery.PathFinder.find_spec(_FRONT, _locations(spec)) is not None


def _locations(spec: ModuleSpec) -> List[str]:
    return list(spec.submodule_search_locations or ())


def load_adapter() -> bool:
    """Import the vendor's package where there is one, which registers its optimizer passes.

    A package that is there and broken is reported with a warning; what needs it raises later.

    Returns:
        True when it is imported.
    """
    if not is_available():
        return False
    try:
        importlib.import_module(PACKAGE)
    except Exception as error:
        warn(_missing("the NPU", "{} is installed but fails to load: {}".format(PACKAGE, error)))
        return False
    return True


def find(module: str, name: str) -> Optional[Any]:
    """Something of the vendor's, or None where the package cannot be found.

    Args:
        module: the vendor's module that defines it, e.g. ``"npu_ops"``, ``"npu_hook"``.
        name: its name there.

    Raises:
        VendorError: the package is there, and it fails to load or lacks the name.
    """
    if not is_available():
        return None
    what = "{}.{}".format(module, name)
    try:
        for home in _homes(module):
            if hasattr(home, name):
                return getattr(home, name)
    except Exception as error:
        raise errors.VendorError([_missing(what, "it fails to load: {}".format(error))]) from error
    raise errors.VendorError([_missing(what, "the {} here does not define it".format(PACKAGE))])


def require(module: str, name: str) -> Any:
    """Something of the vendor's that nothing else can stand for.

    Raises:
        VendorError: it cannot be had here; the text says what is missing.
    """
    found = find(module, name)
    if found is None:
        reason = "the package {} is not installed".format(PACKAGE)
        raise errors.VendorError([_missing("{}.{}".format(module, name), reason)])
    return found


def deferred(module: str, name: str) -> Any:
    """The vendor's ``module.name``; without the vendor, a function that raises when called."""
    found = find(module, name)
    return late(module, name) if found is None else found


def late(module: str, name: str) -> Callable[..., Any]:
    """A function that calls the vendor's ``module.name``, looked up at the call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return require(module, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "``{}.{}`` of the vendor's package; raises without it.".format(module, name)
    return call


def rest_of(module: str, path: Optional[str] = None) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that takes what is missing from the vendor's module.

    What the vendor's module is known to define raises when it is called without the vendor; other
    names are not attributes.

    Args:
        module: the vendor's module.
        path: its path in the table of modules, which has its names; None: that of the operators,
            whose names, in lower case, nobody has listed.
    """

    def attribute(name: str) -> Any:
        if name.startswith("_") or not _defines(module, path, name):
            raise AttributeError(_no_attribute(module, path, name))
        return deferred(module, name)

    return attribute


def _defines(module: str, path: Optional[str], name: str) -> bool:
    """Whether the vendor's module has a name; True where it fails to load, which is said later."""
    if not is_available():
        return name.islower() if path is None else name in MODULES[path]
    try:
        return any(hasattr(home, name) for home in _homes(module))
    except Exception:
        return True


def _no_attribute(module: str, path: Optional[str], name: str) -> str:
    text = "module {!r} has no attribute {!r}".format(module, name)
    if path is None or name.startswith("_"):
        return text
    from npu_config.text.words import did_you_mean

    hint = did_you_mean(name, MODULES[path])
    return text if hint is None else "{}; {}".format(text, hint)


@contextlib.contextmanager
def own_operators() -> Iterator[None]:
    """Inside, operators are marked as made by a stand-in and not by the vendor's package.

    Graphs that are stored keep the mark, so that a diagnosis does not take them for the script's.
    Nothing happens while TensorFlow is not imported.
    """
    tensorflow = sys.modules.get("tensorflow")
    interface = getattr(getattr(tensorflow, "compat", None), "v1", None)
    scope: Any = getattr(
        getattr(interface, "get_default_graph", lambda: None)(), "_attr_scope", None
    )
    if interface is None or scope is None:
        yield
        return
    graph = interface.get_default_graph()
    span = [graph.version, sys.maxsize]
    setattr(graph, OWN_SPANS, [*getattr(graph, OWN_SPANS, ()), span])
    with scope({OWN_OPERATOR: interface.AttrValue(b=True)}):
        try:
            yield
        finally:
            span[1] = graph.version


def stand_in(module: str) -> Callable[[_Function], _Function]:
    """Decorates a function that stands for the vendor's one of the same name.

    Where the vendor's package can be imported, the call goes there; operators that it makes
    elsewhere are marked as ours.
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            theirs = find(module, function.__name__)
            if theirs is not None:
                return theirs(*args, **kwargs)
            with own_operators():
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


class VendorFirst(abc.ABCMeta):
    """A class that is the vendor's own where the vendor's package can be imported.

    A class says with ``vendor_place`` (module and name) what it stands for, and with
    ``late_base`` which class of TensorFlow it extends, where importing that would cost too
    much before it is needed (``tf.contrib``).  Making an object makes the vendor's object,
    or one of a subclass of both, and ``isinstance`` holds for either.
    """

    _concrete: ClassVar[Dict[type, type]] = {}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an object: the vendor's where its package can be imported."""
        place: Optional[Tuple[str, str]] = vars(cls).get("vendor_place")
        theirs = None if place is None else find(*place)
        if theirs is not None:
            return theirs(*args, **kwargs)
        return super(VendorFirst, cls._with_late_base()).__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        place: Optional[Tuple[str, str]] = vars(cls).get("vendor_place")
        if place is None or PACKAGE not in sys.modules:
            return False
        try:
            theirs = find(*place)
        except errors.VendorError:
            return False
        return isinstance(theirs, type) and isinstance(instance, theirs)

    def _with_late_base(cls) -> VendorFirst:
        late_base = getattr(cls, "late_base", None)
        base = None if late_base is None else late_base()
        if base is None or issubclass(cls, base):
            return cls
        if cls not in VendorFirst._concrete:
            namespace = {
                "__doc__": cls.__doc__,
                "__module__": cls.__module__,
                "__qualname__": cls.__qualname__,
            }
            VendorFirst._concrete[cls] = VendorFirst(cls.__name__, (cls, base), namespace)
        concrete = VendorFirst._concrete[cls]
        assert isinstance(concrete, VendorFirst)
        return concrete


def _missing(what: str, reason: str) -> Any:
    return rules.vendor_library_missing.diagnostic(
        '"{}" needs the Ascend adapter for TensorFlow 1.15: {}'.format(what, reason),
        help="install the adapter and source its set_env.sh on a host with NPUs; "
        "on other machines, run with one rank and without this function",
    )


def _homes(module: str) -> Iterator[Any]:
    """Where a name of ``module`` may be, the likeliest first."""
    for path in ("npu_init", "estimator.npu." + module, "estimator." + module, module):
        name = "{}.{}".format(PACKAGE, path)
        try:
            home = _import_quietly(name)
        except ModuleNotFoundError as error:
            if not (name + ".").startswith("{}.".format(error.name)):
                raise
            continue
        if path == "npu_init" and hasattr(home, module):
            yield getattr(home, module)
        yield home


def _import_quietly(name: str) -> Any:
    """Import a module of the vendor's without its patch of the session classes.

    The vendor's patch edits the ConfigProto of the caller; the session is patched by
    :mod:`npu_config.tf1.session` where that is wanted.
    """
    if name in sys.modules:
        return sys.modules[name]
    session = internal("client.session")
    classes = (session.Session, session.InteractiveSession)
    before = [cls.__init__ for cls in classes]
    try:
        return importlib.import_module(name)
    finally:
        for cls, init in zip(classes, before):
            cls.__init__ = init
