"""A process of a job, as a rank table of any dialect says it."""

from typing import NamedTuple, Optional


class Process(NamedTuple):
    """One process of a job: the rank it is and the device it runs on."""

    rank_id: int
    device_id: int
    server_id: Optional[str] = None
    pod_name: Optional[str] = None
