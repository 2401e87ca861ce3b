"""The rules of the stand-ins; imported when one is broken, as a script starts without attrs."""

from npu_config.core.diagnostics import Severity, declare


@declare("NPU425", Severity.ERROR, source=("npu_config",))
def vendor_package_present() -> None:
    """The vendor's package is installed, and its modules are not replaced unasked.

    On the NPU host a script runs with the vendor's modules: run it with `python`.  `--force`
    (`force=True`) runs it with this package's stand-ins all the same.

    Wrong, on an NPU host: `npu-config run train.py`

    Right: `python train.py`
    """
