"""One bash script that starts the launcher of every server over ssh and looks after them."""

import re
import shlex
from typing import Mapping, Optional

from npu_config.core.message import printable
from npu_config.launch.environment.launcher import filled_script
from npu_config.rank_table.building import refusal

_HOST = re.compile(r"[^\s/-][^\s/]*\Z")


def ssh_script(scripts: Mapping[str, str], table: Optional[str], name: str) -> str:
    """The script that starts the launcher of every server.

    Args:
        scripts: host to the file name of its launcher.
        table: the rank table, which stands at the same path on every server; None without one.
        name: the name of the script, for its usage line.

    Raises:
        NpuConfigError: a server has a name that ssh would not take for one.
    """
    for host in scripts:
        if _HOST.match(host) is None:
            raise refusal(
                '"{}" is not the name or address of a machine that ssh could reach'.format(host),
                "name the servers in the rank table as they are reached",
            )
    return filled_script(
        "ssh",
        count=len(scripts),
        name=printable(shlex.quote(name)),
        hosts=" ".join(map(shlex.quote, scripts)),
        copies=" ".join(shlex.quote(_for_scp(host)) for host in scripts),
        scripts=" ".join(map(shlex.quote, scripts.values())),
        table=shlex.quote(table or ""),
    )


def _for_scp(host: str) -> str:
    """A server as scp wants it before the colon of a path."""
    return "[{}]".format(host) if ":" in host else host
