"""The file of HCCL_WHITELIST_FILE: the hosts that may take part in communication.

Source: cann/hccl:docs/zh/user_guide/hccl_env/HCCL_WHITELIST_FILE.md.
"""

import re
from typing import Any, Dict, Iterable, List, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.rule import declare
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles._convert import texts
from npu_config.sidefiles._shape import Shape, is_wrong, refuse
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Places
from npu_config.text.words import shown

KEYS = ("host_ip", "device_ip")
_PART = r"(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
_ADDRESS = re.compile(r"{0}(?:\.{0}){{3}}\Z".format(_PART))

_DOC = "cann/hccl:docs/zh/user_guide/hccl_env/HCCL_WHITELIST_FILE.md"

STRUCTURE = declare(
    "NPU765",
    "hccl-whitelist-structure",
    Severity.ERROR,
    """
    The communication whitelist has a key or a value that does not belong there.

    The file is a JSON object with the arrays `host_ip` and `device_ip`.  HCCL reads it when
    HCCL_WHITELIST_DISABLE is 0, and then refuses peers that are not in it.

    Wrong: `{"host_ips": "10.0.0.1"}`

    Right: `{"host_ip": ["10.0.0.1"], "device_ip": []}`
    """,
    source=(_DOC,),
)

ADDRESS = declare(
    "NPU766",
    "hccl-whitelist-address",
    Severity.ERROR,
    """
    An entry of the communication whitelist is no IPv4 address.

    Only dotted IPv4 addresses are read: no host names, no IPv6, no ports, no masks.

    Wrong: `{"host_ip": ["node-1", "10.0.0.0/24"], "device_ip": []}`

    Right: `{"host_ip": ["10.0.0.1", "10.0.0.2"], "device_ip": []}`
    """,
    source=(_DOC,),
)

RESERVED = declare(
    "NPU767",
    "hccl-whitelist-device-ip",
    Severity.INFO,
    """
    The communication whitelist names devices.

    `device_ip` is reserved: nothing reads it at present.

    Wrong: `{"host_ip": ["10.0.0.1"], "device_ip": ["192.168.1.8"]}`

    Right: `{"host_ip": ["10.0.0.1"], "device_ip": []}`
    """,
    source=(_DOC,),
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class HcclWhitelist:
    """The content of a communication whitelist.

    Args:
        host_ip: dotted IPv4 addresses of the hosts that may take part.
        device_ip: reserved.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    host_ip: Tuple[str, ...] = attr.ib(default=(), converter=texts)
    device_ip: Tuple[str, ...] = attr.ib(default=(), converter=texts)

    def __attrs_post_init__(self) -> None:
        refuse(_faults(_plain(self), ANYWHERE))

    @classmethod
    def of(cls, host_ip: Iterable[str]) -> "HcclWhitelist":
        """The whitelist of these hosts.

        Args:
            host_ip: dotted IPv4 addresses.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(texts(host_ip))


def _plain(model: HcclWhitelist) -> Dict[str, Any]:
    values: Tuple[Any, ...] = (model.host_ip, model.device_ip)
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in zip(KEYS, values)
    }


def _faults(value: Any, places: Places) -> List[Diagnostic]:
    shape = Shape(STRUCTURE, places)
    top = shape.object(value, (), "the file")
    shape.keys(top, (), KEYS, "at the top level")
    for key in KEYS:
        for path, address in shape.texts(top.get(key, []), (key,), '"{}"'.format(key)):
            if _ADDRESS.match(address) is None:
                message = "{} is not a dotted IPv4 address, e.g. 10.0.0.1"
                shape.report(message.format(shown(address)), places.place(path), rule=ADDRESS)
    if top.get("device_ip") and isinstance(top["device_ip"], list):
        message = '"device_ip" is reserved; nothing reads it'
        shape.report(message, places.key_place(("device_ip",)), rule=RESERVED)
    return shape.found


def parse(
    text: str, path: Optional[str] = None, target: Target = ANY_TARGET
) -> Parsed[HcclWhitelist]:
    """Read a communication whitelist.

    Args:
        text: anything.
        path: the file it came from.
        target: not needed here; no finding depends on it.
    """
    reading = _json.read(text, path)
    found = _faults(reading.value, reading)
    understood = reading.complete and not is_wrong(found)
    return conclude(
        (*reading.diagnostics, *found),
        reading,
        (lambda: HcclWhitelist(**reading.value)) if understood else None,
        lambda _: (),
    )


def check(
    model: HcclWhitelist, target: Target = ANY_TARGET, places: Places = ANYWHERE
) -> Tuple[Diagnostic, ...]:
    """What is worth knowing about a legal whitelist.

    Args:
        model: the whitelist.
        target: not needed here; no finding depends on it.
        places: where the parts stand (``Parsed.places``).
    """
    return tuple(_faults(_plain(model), places))


def render(model: HcclWhitelist) -> str:
    """The canonical text of the file."""
    return _json.write(_plain(model))


def _looks_like(sample: Sample) -> bool:
    top = sample.top
    return any(isinstance(top.get(key), list) for key in KEYS)


FORMAT: Format[HcclWhitelist] = Format(
    name="hccl_whitelist",
    title="communication whitelist of HCCL",
    default_name="hccl_whitelist.json",
    options=("HCCL_WHITELIST_FILE",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
)
load = FORMAT.load
save = FORMAT.save

__all__ = ["FORMAT", "HcclWhitelist", "check", "load", "parse", "render", "save"]
