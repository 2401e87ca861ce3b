"""Checks of the machine: directories, environment, versions."""

import glob
import importlib.util
import os
import re
import sys
from typing import Any, Mapping, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.message import listed, phrase
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import Target
from npu_config.core.toolkit import ROOTS, installed_cann
from npu_config.diagnosis.doctor._facts import Facts
from npu_config.diagnosis.doctor._model import Verdict, check, failed, passed, unknown

_ENVIRONMENT = "docs/en/tfadapter_1/migration/model_training/distributed_training.md"
_DUMP = "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md"
# tensorflow-1.15.5.dist-info, tensorflow_cpu-2.15.1.dist-info, tensorflow-1.15.5-py3.7.egg-info
_TENSORFLOW = re.compile(r"tensorflow(?:_cpu|_gpu)?-(\d[^-]*?)(?:-py[\d.]+)?\.(?:dist|egg)-info\Z")


def is_host(environ: Mapping[str, str]) -> bool:
    """True when this machine looks like one that trains on NPUs."""
    return (
        bool(glob.glob("/dev/davinci[0-9]*"))
        or any(environ.get(name) for name in ROOTS)
        or _installed("npu_bridge")
    )


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


@check("dump-directories", _DUMP)
def _directories(facts: Facts) -> Verdict:
    if not facts.settings:
        return unknown("no configuration that could name a directory was read")
    switches = facts.values("enable_dump") + facts.values("enable_dump_debug")
    paths = [path for path in facts.values("dump_path") if path is not None]
    if True not in switches and UNKNOWN not in switches:
        return passed("nothing is dumped")
    if not paths:
        return failed("no dump_path is set", "set dump_path to an existing directory")
    if UNKNOWN in paths:
        return unknown("dump_path has a value known at run time")
    bad = [path for path in paths if not _usable(path)]
    if not bad:
        return passed(phrase("{} can be read and written", listed(paths)))
    reason = phrase('"{}" is not a directory that this user can read and write', bad[0])
    if not facts.on_host:
        return unknown(phrase("{}, and this is not an NPU host", reason))
    return failed(reason, phrase("create it before the job: mkdir -p {}", bad[0]))


def _usable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK | os.W_OK)


@check("environment", _ENVIRONMENT)
def _environment(facts: Facts) -> Verdict:
    from npu_config.launch.environment.check import check_environment, check_host
    from npu_config.launch.environment.variables import VARIABLES

    given = [variable for variable in VARIABLES if variable in facts.environ]
    if not given:
        return unknown("no variable of an NPU job is set in this environment")
    look: Any = check_host if facts.on_host else check_environment
    errors = [
        found for found in look(facts.environ, facts.target) if found.severity is Severity.ERROR
    ]
    if errors:
        help = errors[0].help or "npu-config env --check lists all"
        return failed(errors[0].message, help)
    words = "{} variable checked" if len(given) == 1 else "{} variables checked"
    return passed(phrase(words, len(given)))


@check("tensorflow-version")
def _tensorflow(facts: Facts) -> Verdict:
    python = phrase("Python {}.{}", *sys.version_info[:2])
    version = _tensorflow_version()
    if version is None:
        return unknown(phrase("no TensorFlow is installed for this {}", python))
    reason = phrase("TensorFlow {} on {}", version, python)
    if version.startswith("1.15."):
        return passed(reason)
    if not facts.on_host:
        return unknown(phrase("{}, and this is not an NPU host", reason))
    return failed(reason, "install tensorflow 1.15 (Python 3.7), which this adapter is for")


def _tensorflow_version() -> Optional[str]:
    """The version of the package that would be imported, without importing it."""
    try:
        found = importlib.util.find_spec("tensorflow")
    except (ImportError, ValueError):
        return None
    if found is None or not found.submodule_search_locations:
        return None
    root = os.path.dirname(next(iter(found.submodule_search_locations)))
    pattern = os.path.join(glob.escape(root), "tensorflow*-info")
    for path in sorted(glob.glob(pattern)):
        match = _TENSORFLOW.match(os.path.basename(path))
        if match:
            return match.group(1)
    return "of unknown version"


@check("adapter-installed")
def _adapter(facts: Facts) -> Verdict:
    if _installed("npu_bridge"):
        return passed("npu_bridge can be imported")
    if not facts.on_host:
        return unknown("this is not an NPU host")
    help = "install the TF Adapter (tfplugin) and source its set_env.sh"
    return failed("npu_bridge cannot be found", help)


@check("cann-version")
def _cann(facts: Facts) -> Verdict:
    roots = [facts.environ[root] for root in ROOTS if facts.environ.get(root)]
    if not roots:
        return unknown(phrase("none of {} is set", listed(ROOTS[:3])))
    version = installed_cann(facts.environ)
    if version is None:
        return unknown(phrase("no version file below {}", roots[0]))
    wanted = facts.target.cann
    if wanted is None or version == wanted or version.startswith(wanted + "."):
        return passed(phrase("CANN {}, {}", version, Target(cann=version).snapshot))
    reason = phrase("CANN {} is installed, the configuration is for {}", version, wanted)
    return failed(reason, "install that version, or change the target")


CHECKS = (_directories, _environment, _tensorflow, _adapter, _cann)
