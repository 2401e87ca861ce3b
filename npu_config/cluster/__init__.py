"""Rank tables, and the environment that the processes of a job are launched with.

    from npu_config.cluster import launchers, rank_table, save_launchers, table_job

    table = rank_table.build(["10.0.0.1", "10.0.0.2"], 8, "10.20.0.2", "atlas_training")
    rank_table.save(table, "/data/rank_table.json")
    job = table_job(table, "/data/rank_table.json", "resnet")
    save_launchers(launchers(job, ["python3", "train.py"]), ".")

Tables are read, checked, built, converted and written by :mod:`npu_config.cluster.rank_table`.
Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from npu_config.core.lazy import lazy

if TYPE_CHECKING:
    from npu_config.cluster import rank_table
    from npu_config.cluster.environment.check import check_environment, check_host, check_job
    from npu_config.cluster.environment.dotenv import parse_dotenv, render_dotenv
    from npu_config.cluster.environment.job import (
        Job,
        Worker,
        chief_job,
        dotenv_text,
        export_lines,
        process_environment,
        table_job,
    )
    from npu_config.cluster.environment.launcher import launcher_script, launchers, save_launchers
    from npu_config.cluster.environment.variables import VARIABLES, Variable
    from npu_config.cluster.rank_table.building import ServerPlan
    from npu_config.cluster.rank_table.building_ranks import Layer
    from npu_config.cluster.rank_table.group_model import GroupTable
    from npu_config.cluster.rank_table.hccn import check_addresses_of, parse_hccn, plan_of_machine
    from npu_config.cluster.rank_table.model import (
        AnyRankTable,
        Device,
        RankTable,
        RankTable2,
        Server,
        SuperPod,
    )
    from npu_config.cluster.rank_table.process import Process

__all__ = [
    "rank_table",
    "AnyRankTable", "Device", "GroupTable", "Process", "RankTable", "RankTable2", "Server",
    "SuperPod",
    "Layer", "ServerPlan", "check_addresses_of", "parse_hccn", "plan_of_machine",
    "Job", "Worker", "chief_job", "dotenv_text", "export_lines", "process_environment",
    "table_job",
    "launcher_script", "launchers", "save_launchers",
    "VARIABLES", "Variable", "check_environment", "check_host", "check_job",
    "parse_dotenv", "render_dotenv",
]  # fmt: skip

_HOMES = {
    "rank_table.building": ("ServerPlan",),
    "rank_table.building_ranks": ("Layer",),
    "environment.dotenv": ("parse_dotenv", "render_dotenv"),
    "environment.check": ("check_environment", "check_host", "check_job"),
    "environment.job": (
        "Job", "Worker", "chief_job", "dotenv_text", "export_lines", "process_environment",
        "table_job",
    ),
    "rank_table.hccn": ("check_addresses_of", "parse_hccn", "plan_of_machine"),
    "environment.launcher": ("launcher_script", "launchers", "save_launchers"),
    "rank_table.model": (
        "AnyRankTable", "Device", "RankTable", "RankTable2", "Server", "SuperPod",
    ),
    "rank_table.group_model": ("GroupTable",),
    "rank_table.process": ("Process",),
    "environment.variables": ("VARIABLES", "Variable"),
}  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "rank_table": "rank_table",
            **{name: home for home, names in _HOMES.items() for name in names},
        },
    )
