"""Checks of the machine: directories, environment, versions."""

import glob
import importlib.util
import os
import re
import sys
from typing import Any, Mapping, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import Target
from npu_config.core.toolkit import ROOTS, installed_cann
from npu_config.diagnosis.doctor._facts import Facts
from npu_config.diagnosis.doctor._model import Check, Outcome

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


def _directories(facts: Facts) -> Check:
    name = "dump-directories"
    if not facts.settings:
        reason = "no configuration that could name a directory was read"
        return Check(name, Outcome.UNKNOWN, reason, source=_DUMP)
    switches = facts.values("enable_dump") + facts.values("enable_dump_debug")
    paths = [path for path in facts.values("dump_path") if path is not None]
    if True not in switches and UNKNOWN not in switches:
        return Check(name, Outcome.PASSED, "nothing is dumped", source=_DUMP)
    if not paths or UNKNOWN in paths:
        reason = "dump_path has a value known at run time" if paths else "no dump_path is set"
        outcome = Outcome.UNKNOWN if paths else Outcome.FAILED
        help = "" if paths else "set dump_path to an existing directory"
        return Check(name, outcome, reason, help, _DUMP)
    bad = [path for path in paths if not _usable(path)]
    if not bad:
        reason = phrase("{} can be read and written", ", ".join(paths))
        return Check(name, Outcome.PASSED, reason, source=_DUMP)
    reason = phrase('"{}" is not a directory that this user can read and write', bad[0])
    if not facts.on_host:
        return Check(
            name, Outcome.UNKNOWN, phrase("{}, and this is not an NPU host", reason), source=_DUMP
        )
    help = phrase("create it before the job: mkdir -p {}", bad[0])
    return Check(name, Outcome.FAILED, reason, help, _DUMP)


def _usable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK | os.W_OK)


def _environment(facts: Facts) -> Check:
    from npu_config.cluster.environment.check import check_environment, check_host
    from npu_config.cluster.environment.variables import VARIABLES

    name = "environment"
    given = [variable for variable in VARIABLES if variable in facts.environ]
    if not given:
        reason = "no variable of an NPU job is set in this environment"
        return Check(name, Outcome.UNKNOWN, reason, source=_ENVIRONMENT)
    look: Any = check_host if facts.on_host else check_environment
    errors = [
        found for found in look(facts.environ, facts.target) if found.severity is Severity.ERROR
    ]
    if errors:
        return Check(
            name,
            Outcome.FAILED,
            errors[0].message,
            errors[0].help or "npu-config env --check lists all",
            _ENVIRONMENT,
        )
    reason = phrase(
        "{} variable checked" if len(given) == 1 else "{} variables checked", len(given)
    )
    return Check(name, Outcome.PASSED, reason, source=_ENVIRONMENT)


def _tensorflow(facts: Facts) -> Check:
    name, python = "tensorflow-version", phrase("Python {}.{}", *sys.version_info[:2])
    version = _tensorflow_version()
    if version is None:
        reason = phrase("no TensorFlow is installed for this {}", python)
        return Check(name, Outcome.UNKNOWN, reason)
    reason = phrase("TensorFlow {} on {}", version, python)
    if version.startswith("1.15."):
        return Check(name, Outcome.PASSED, reason)
    if not facts.on_host:
        return Check(name, Outcome.UNKNOWN, phrase("{}, and this is not an NPU host", reason))
    help = "install tensorflow 1.15 (Python 3.7), which this adapter is for"
    return Check(name, Outcome.FAILED, reason, help)


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


def _adapter(facts: Facts) -> Check:
    name = "adapter-installed"
    if _installed("npu_bridge"):
        return Check(name, Outcome.PASSED, "npu_bridge can be imported")
    if not facts.on_host:
        return Check(name, Outcome.UNKNOWN, "this is not an NPU host")
    help = "install the TF Adapter (tfplugin) and source its set_env.sh"
    return Check(name, Outcome.FAILED, "npu_bridge cannot be found", help)


def _cann(facts: Facts) -> Check:
    name = "cann-version"
    roots = [facts.environ[root] for root in ROOTS if facts.environ.get(root)]
    if not roots:
        return Check(name, Outcome.UNKNOWN, phrase("none of {} is set", ", ".join(ROOTS[:3])))
    version = installed_cann(facts.environ)
    if version is None:
        return Check(name, Outcome.UNKNOWN, phrase("no version file below {}", roots[0]))
    wanted = facts.target.cann
    if wanted is None or version == wanted or version.startswith(wanted + "."):
        reason = phrase("CANN {}, {}", version, Target(cann=version).snapshot)
        return Check(name, Outcome.PASSED, reason)
    reason = phrase("CANN {} is installed, the configuration is for {}", version, wanted)
    return Check(name, Outcome.FAILED, reason, "install that version, or change the target")


CHECKS = (_directories, _environment, _tensorflow, _adapter, _cann)
