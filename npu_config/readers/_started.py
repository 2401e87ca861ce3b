"""The training scripts that a launch script starts: the framework that they are for."""

import os
import re
from typing import Dict, Optional, Set, Tuple

from npu_config.launch.shell.check import Scripts
from npu_config.launch.shell.commands import Launch, without_comments
from npu_config.script.neighbours import any_file_has, framework_of

_ABOVE = ("..", os.path.join("..", ".."), os.path.join("..", "..", ".."))
"""Launch scripts stand in the folder of what they start or below, and change to it."""
_NAMED = re.compile(r"/([\w.-]{1,200}\.py)(?=[\s\"']|\Z)")
_MENTIONED = re.compile(r"(?<![\w.-])[\w./-]{1,200}\.py(?![\w.-])")
_MOST_MENTIONED = 16


class StartedScripts(Scripts):
    """The scripts that a launch script starts are asked, and what they import."""

    def __init__(self, path: Optional[str]) -> None:
        self._folder = os.path.dirname(path or "")
        self._files: Dict[str, Optional[str]] = {}
        self._frameworks: Dict[str, Optional[str]] = {}
        self._names: Dict[Tuple[str, str], bool] = {}

    def framework(self, launch: Launch) -> Optional[str]:
        """That of the script, else that of its starter."""
        file = self._file(launch)
        return (file and self._framework(file)) or launch.framework

    def mentioned(self, text: str) -> Set[str]:
        """The frameworks of the scripts that are named anywhere, and of the starters."""
        found = super().mentioned(text)
        names = dict.fromkeys(_MENTIONED.findall(without_comments(text)))
        for name in list(names)[:_MOST_MENTIONED]:
            file = self._found(name)
            framework = None if file is None else self._framework(file)
            found.update(() if framework is None else (framework,))
        return found

    def names(self, launch: Launch, variable: str) -> bool:
        """Whether the script holds the name, or a file that it imports."""
        file = self._file(launch)
        if file is None:
            return False
        if (file, variable) not in self._names:
            self._names[file, variable] = any_file_has(file, (variable,))
        return self._names[file, variable]

    def _file(self, launch: Launch) -> Optional[str]:
        script = launch.script
        if script is None:  # of a path that is not known the last name may be
            named = _NAMED.search(launch.text)
            script = named and named.group(1)
        return script and self._found(script)

    def _framework(self, file: str) -> Optional[str]:
        if file not in self._frameworks:
            self._frameworks[file] = framework_of(file)
        return self._frameworks[file]

    def _found(self, script: str) -> Optional[str]:
        if script not in self._files:
            self._files[script] = self._find(script)
        return self._files[script]

    def _find(self, script: str) -> Optional[str]:
        """The file of a script: where it is named, or beside or above the launch script."""
        folders = [self._folder, *(os.path.join(self._folder, up) for up in _ABOVE)]
        names = [script]
        if not os.path.isabs(script):
            names += [os.path.join(each, script) for each in folders]
        names += [os.path.join(each, os.path.basename(script)) for each in folders]
        return next((name for name in names if _is_file(name)), None)


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL in the path
        return False
