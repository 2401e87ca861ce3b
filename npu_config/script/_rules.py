"""The rules that the reader of scripts applies itself: what keeps a script from being read."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare


@declare("NPU830", Severity.ERROR, source=("Python language reference",))
def script_not_parsed() -> None:
    """A script is not Python 3, and is not checked.

    Python 2 scripts (``print "loss", loss``) cannot be parsed, nor can files with unsaved merge
    marks or half a line.  The other files are checked all the same.

    Wrong:

        print "loss", loss

    Right:

        print("loss", loss)
    """


@declare("NPU831", Severity.ERROR, source=("PEP 263",))
def script_not_decoded() -> None:
    """The bytes of a script are not text in the encoding that Python would use.

    That is UTF-8, unless a comment in one of the first two lines says otherwise (PEP 263).
    Python refuses to run the script.

    An import reads comments of any bytes: a module with such a byte in a comment is checked as any
    other one, and the finding is a warning unless the file is run itself.

    Wrong, for a file that was saved as GBK:

        import os

    Right:

        # -*- coding: gbk -*-
        import os
    """


@declare("NPU868", Severity.ERROR, source=("docs/reference/python.md",))
def own_call_refused() -> None:
    """A call of npu_config itself has a name, an argument or a target that there is not.

    Python raises AttributeError, TypeError or ValueError, or the import raises ImportError, when
    the script comes there.  ``NpuConfig`` takes a mapping of options; by name they are given to
    ``NpuConfigBuilder().set``.

    Wrong:

        from npu_config import NpuConfig
        config = NpuConfig(iterations_per_loop=10, enable_data_pre_proc=True)

    Right:

        from npu_config import NpuConfigBuilder
        config = (
            NpuConfigBuilder().set(iterations_per_loop=10, enable_data_pre_proc=True).build()
        )
    """
