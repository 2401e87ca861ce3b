"""Records: what a job really ran with, written beside its checkpoints, and compared later.

``record`` writes one and knows when the process ends, ``document`` is what it holds, ``compare``
says how two jobs differ.  Their reader is ``npu_config.readers.record_file``.
"""

from npu_config.records.writing import record

__all__ = ["record"]
