"""The options collected so far, each with the place of the call that set it."""

import os
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    TypeVar,
    Union,
)

from npu_config.core.caller import caller_place
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.settings import Setting
from npu_config.core.target import Target
from npu_config.rules.value import SideFile

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from npu_config.catalogue.option_types import OptionArguments

    Directory = Union[str, "os.PathLike[str]"]

Self = TypeVar("Self", bound="Collected")


class Collected:
    """Options by name, to be judged by :class:`~npu_config.builder.NpuConfigBuilder`."""

    def __init__(self, target: Optional[Target] = None) -> None:
        self._target = target
        self._entries: Dict[str, Setting] = {}
        self._side_files: Dict[str, SideFile] = {}
        self._found: Dict[str, List[Diagnostic]] = {}
        self._place = caller_place()

    # any option

    def set(self: Self, **options: "Unpack[OptionArguments]") -> Self:
        """Set options by their own names.

        Args:
            options: option name to value; the values each one takes are on its reference page
                and in ``npu-config explain NAME``.
        """
        place = caller_place()
        entries = self._entries
        for name, value in options.items():
            entries[name] = Setting(value, None, place)
        if self._side_files or self._found:
            self._forget_contents(options)
        return self

    def unset(self: Self, *names: str) -> Self:
        """Take options away that were set before; names that are not set are not a fault."""
        for name in names:
            self._entries.pop(name, None)
        self._forget_contents(names)
        return self

    @property
    def entries(self) -> Mapping[str, Setting]:
        """What is set, by option name."""
        return self._entries

    @property
    def side_files(self) -> Mapping[str, SideFile]:
        """The contents of files that options name, by option name."""
        return self._side_files

    @property
    def refused(self) -> List[Diagnostic]:
        """What is wrong with contents that were made from arguments."""
        return [found for several in self._found.values() for found in several]

    def _forget_contents(self, names: Iterable[str]) -> None:
        for name in names:
            self._side_files.pop(name, None)
            self._found.pop(name, None)

    def _put_all(self, entries: Mapping[str, Setting]) -> None:
        self._forget_contents(entries)
        self._entries.update(entries)

    def _put(self: Self, options: Mapping[str, Any], **more: Any) -> Self:
        """Set options at the place of the task method's caller; of ``more`` what is not None."""
        place = caller_place()
        given = {**options, **{name: v for name, v in more.items() if v is not None}}
        self._put_all({name: Setting(value, None, place) for name, value in given.items()})
        return self

    def _carry(self: Self, option: str, path: "Directory", make: Callable[[], str]) -> Self:
        """Point an option to a file, and keep the file's content."""
        place = caller_place()
        self._put_all({option: Setting(path, None, place)})
        text = self._content(option, place, make)
        if text is not None and isinstance(path, (str, os.PathLike)):
            self._side_files[option] = SideFile(os.fspath(path), text)
        return self

    def _content(self, option: str, place: Place, make: Callable[[], str]) -> Optional[str]:
        """A content made from arguments; what is wrong with them is kept for ``build``."""
        try:
            return make()
        except NpuConfigError as error:
            self._found[option] = [found.in_option(option, place) for found in error.diagnostics]
            return None
