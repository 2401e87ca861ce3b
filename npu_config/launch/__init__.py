"""Launching: the environment of the processes of a job, launch scripts, jobs for engines.

    from npu_config import rank_table
    from npu_config.launch import launchers, save_launchers, table_job

    table = rank_table.build(["10.0.0.1", "10.0.0.2"], 8, "10.20.0.2", "atlas_training")
    rank_table.save(table, "/data/rank_table.json")
    job = table_job(table, "/data/rank_table.json", "resnet")
    save_launchers(launchers(job, ["python3", "train.py"]), ".")

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from npu_config.core.lazy import lazy

if TYPE_CHECKING:
    from npu_config.launch.engines import launcher_script, launchers, save_launchers
    from npu_config.launch.environment.check import check_environment, check_host, check_job
    from npu_config.launch.environment.dotenv import parse_dotenv, render_dotenv
    from npu_config.launch.environment.job import (
        Job,
        Worker,
        chief_job,
        dotenv_text,
        export_lines,
        process_environment,
        table_job,
    )
    from npu_config.launch.environment.variables import VARIABLES, Variable

__all__ = [
    "Job", "Worker", "chief_job", "dotenv_text", "export_lines", "process_environment",
    "table_job",
    "launcher_script", "launchers", "save_launchers",
    "VARIABLES", "Variable", "check_environment", "check_host", "check_job",
    "parse_dotenv", "render_dotenv",
]  # fmt: skip

_HOMES = {
    "environment.dotenv": ("parse_dotenv", "render_dotenv"),
    "environment.check": ("check_environment", "check_host", "check_job"),
    "environment.job": (
        "Job", "Worker", "chief_job", "dotenv_text", "export_lines", "process_environment",
        "table_job",
    ),
    "engines": ("launcher_script", "launchers", "save_launchers"),
    "environment.variables": ("VARIABLES", "Variable"),
}  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__, {name: home for home, names in _HOMES.items() for name in names}
    )
