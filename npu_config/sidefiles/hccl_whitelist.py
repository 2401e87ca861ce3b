"""The file of HCCL_WHITELIST_FILE: the hosts that may take part in communication.

Source: cann/hccl:docs/zh/user_guide/hccl_env/HCCL_WHITELIST_FILE.md.
"""

from functools import partial
from typing import Any

import attr

from npu_config.core.diagnostics import Severity, declare
from npu_config.sidefiles.format import (
    JsonFormat,
    RawDocument,
    Sample,
    content,
    no_checks,
    object_at,
    raw_format,
)
from npu_config.sidefiles.schema.kinds import (
    BadValueError,
    Items,
    JsonKind,
    Key,
    Schema,
    family_of,
)
from npu_config.sidefiles.schema.reading import FileFindings, one_rule

KEYS = ("host_ip", "device_ip")

_DOC = "cann/hccl:docs/zh/user_guide/hccl_env/HCCL_WHITELIST_FILE.md"

_rule = partial(declare, source=(_DOC,))


@_rule("NPU765", Severity.ERROR, help='write {"host_ip": ["10.0.0.1"], "device_ip": ["10.0.0.2"]}')
def hccl_whitelist_structure() -> None:
    """The communication whitelist has an unknown key or an invalid value.

    The file must be a JSON object with the arrays `host_ip` and `device_ip`.  If
    HCCL_WHITELIST_DISABLE is 0, HCCL reads the file and rejects connections from addresses that
    are not in it.

    Wrong: `{"host_ips": "10.0.0.1"}`

    Right: `{"host_ip": ["10.0.0.1"], "device_ip": []}`
    """


@_rule("NPU766", Severity.ERROR, help="write the address in numbers, without a mask")
def hccl_whitelist_address() -> None:
    """An entry of the communication whitelist is not an IPv4 address.

    HCCL reads only dotted IPv4 addresses: no host names, no IPv6 addresses, no ports and no masks.

    Wrong: `{"host_ip": ["node-1", "10.0.0.0/24"], "device_ip": []}`

    Right: `{"host_ip": ["10.0.0.1", "10.0.0.2"], "device_ip": []}`
    """


@_rule("NPU767", Severity.INFO)
def hccl_whitelist_device_ip() -> None:
    """The communication whitelist contains device addresses.

    `device_ip` is reserved: nothing reads it at present.

    Wrong: `{"host_ip": ["10.0.0.1"], "device_ip": ["192.168.1.8"]}`

    Right: `{"host_ip": ["10.0.0.1"], "device_ip": []}`
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class _IpV4(JsonKind):
    def parse(self, value: Any) -> str:
        """The address as it is."""
        if family_of(value, zone=False) != "IPv4":
            raise BadValueError("the value must be a dotted IPv4 address, e.g. 10.0.0.1")
        return str(value)


def _judge(value: Any, findings: FileFindings) -> None:
    devices = object_at(value).get("device_ip")
    if devices and isinstance(devices, list):
        message = '"device_ip" is reserved and is ignored'
        findings.add(hccl_whitelist_device_ip, ("device_ip",), message, at_key=True)


WHITELIST: JsonFormat[RawDocument] = JsonFormat(
    "the whitelist",
    Schema(
        {key: Key(Items(_IpV4()), source=_DOC, rule=hccl_whitelist_address) for key in KEYS},
        closed=True,
    ),
    one_rule(hccl_whitelist_structure),
    content,
    _judge,
)


def _looks_like(sample: Sample) -> bool:
    return any(isinstance(sample.top.get(key), list) for key in KEYS)


FORMAT = raw_format(
    WHITELIST,
    name="hccl_whitelist",
    title="communication whitelist of HCCL",
    default_name="hccl_whitelist.json",
    options=("HCCL_WHITELIST_FILE",),
    looks_like=_looks_like,
)
check = no_checks
parse, render, load, save = FORMAT.parse, FORMAT.render, FORMAT.load, FORMAT.save

__all__ = ["FORMAT", "check", "load", "parse", "render", "save"]
