"""From what was found to the configuration of the next run."""

import os
from typing import Any, List, Optional, Sequence, Tuple

import click

from npu_config.cli._output import Failure, Unproducible, say, unwritable
from npu_config.cli._report import attempt
from npu_config.core.message import localized
from npu_config.dumps.tree import find_dumps


def write_next(
    path: str,
    dump: str,
    layers: Sequence[str],
    step: Optional[int],
    passes: Sequence[str] = (),
    black_list: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write a configuration that dumps suspects alone, with what may cure them.

    Args:
        path: the file to write; side files are written beside it.
        dump: the dump that was looked at, which says where the next one goes.
        layers: operators to dump, with inputs and outputs.
        step: the step to dump.
        passes: fusion passes to switch off.
        black_list: operator types to keep in float32.
        force: overwrite files that exist.
    """
    from npu_config import presets
    from npu_config.builder import NpuConfigBuilder

    if not layers:
        raise Unproducible("nothing is suspected; {} is not written", path)
    folder = os.path.dirname(path) or "."

    def made() -> Any:
        preset = presets.data_dump(
            _dump_path(dump), None if step is None else [step], "all", layers=list(layers)
        )
        if passes:
            graph, ub = _by_kind(passes)
            switch = os.path.join(folder, "fusion_switch.cfg")
            preset = preset | presets.fusion_switch(graph, ub, switch)
        builder = preset.apply_to(NpuConfigBuilder())
        if black_list:
            mixlist = os.path.join(folder, "ops_info.json")
            builder.mixed_precision(black_list=list(black_list), mixlist_path=mixlist)
        return builder.build()

    config = attempt("text", made)
    try:
        written = config.save_side_files(folder, overwrite=force) if config.side_files else config
        written.save(path, overwrite=force)
    except FileExistsError as error:
        raise Failure("{}; --force overwrites it", error) from None
    except ValueError as error:
        raise click.UsageError(localized("--next-config: {}", error)) from None
    except OSError as error:
        raise Failure(unwritable(path, error)) from None
    files = [path, *(file.path for file in written.side_files.values())]
    say(localized("written: {}\n", ", ".join(files)))


def _by_kind(passes: Sequence[str]) -> Tuple[Any, Any]:
    """Passes by the section of the switch file; those of the UB begin with ``Tbe``."""
    ub = {name: False for name in passes if name.startswith("Tbe")}
    graph = {name: False for name in passes if name not in ub}
    return graph or None, ub or None


def _dump_path(dump: str) -> str:
    """The ``dump_path`` of the job: what is above the folder of the run."""
    tree = find_dumps(dump)
    parts: List[str] = os.path.abspath(dump).split(os.sep)
    for file in tree:
        if file.run is not None:
            parts = os.path.abspath(file.path).split(os.sep)
            last = len(parts) - 1 - parts[::-1].index(file.run)
            return os.sep.join(parts[:last]) or os.sep
    return os.sep.join(parts)
