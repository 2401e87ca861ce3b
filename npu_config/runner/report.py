"""What a run showed, as text, and the files that it wrote."""

import os
from typing import Any, Dict, Iterable, List, Mapping, Tuple

from npu_config.core.files import walk

_MOST_FILES = 20_000


def as_json(seen: Mapping[str, Any]) -> str:
    """A report as JSON."""
    import json

    return json.dumps(seen, indent=2, ensure_ascii=False) + "\n"


def as_yaml(seen: Mapping[str, Any]) -> str:
    """A report as YAML."""
    import json

    import yaml

    plain = json.loads(json.dumps(seen))  # messages are texts of a class of their own
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


def stamps(folder: str) -> Dict[str, Tuple[int, int]]:
    """The files below a folder with their size and time; at most 20,000."""
    return dict(_stamped(folder))


def _stamped(folder: str) -> Iterable[Tuple[str, Tuple[int, int]]]:
    count = 0
    for directory, folders, names in walk(folder):
        folders[:] = [
            each for each in folders if not each.startswith(".") and each != "__pycache__"
        ]
        for name in names:
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            yield os.path.relpath(path, folder), (status.st_size, status.st_mtime_ns)
            count += 1
            if count >= _MOST_FILES:
                return


def changed(before: Dict[str, Tuple[int, int]], after: Dict[str, Tuple[int, int]]) -> List[str]:
    """The files that are new or not as they were."""
    return sorted(path for path, stamp in after.items() if before.get(path) != stamp)
