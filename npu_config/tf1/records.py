"""Sessions that record what they run with: a hook, a variable, and a summary for TensorBoard."""

from __future__ import annotations

import os
from typing import Any, Optional

from npu_config.records import record
from npu_config.records.document import options_of
from npu_config.records.writing import VARIABLE
from npu_config.tf1._bases import SessionRunHook
from npu_config.tf1.config_proto import real_session
from npu_config.tf1.tensorflow import tf

__all__ = ["ConfigRecordHook", "record_if_asked", "summary_of"]

TAG = "npu_config"


class ConfigRecordHook(SessionRunHook):
    """Records the configuration of a session when it is created; costs nothing in a step.

    Args:
        directory: where ``npu_config.json`` is written, e.g. the folder of the checkpoints.
        summary_writer: a ``tf.summary.FileWriter``; shows the options in the text tab of
            TensorBoard.  None: no summary.
        script: the script of the job; None: the one that Python was started with.
    """

    def __init__(
        self,
        directory: Any,
        summary_writer: Optional[Any] = None,
        script: Optional[Any] = None,
    ) -> None:
        self._directory = os.fspath(directory)
        self._writer = summary_writer
        self._script = script
        self.path: Optional[str] = None
        """The record, as soon as there is one."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Record the configuration; what cannot be written is a warning, and ends no job."""
        config = _config(session)
        if config is None:
            return
        self.path = _recorded(config, self._directory, self._script)
        if self._writer is not None:
            self._writer.add_summary(summary_of(config), 0)


def record_if_asked(session: Any) -> None:
    """Record a new session in the directory that ``NPU_CONFIG_RECORD`` names, if it does."""
    directory = os.environ.get(VARIABLE)
    config = _config(session) if directory else None
    if directory and config is not None:
        _recorded(config, directory, None)


def _config(session: Any) -> Any:
    return getattr(real_session(session), "_config", None)


def _recorded(config: Any, directory: str, script: Optional[Any]) -> Optional[str]:
    try:
        return record(config, directory, script)
    except OSError as error:
        tf.logging.warning("npu_config: the configuration is not recorded: %s", error)
        return None


def summary_of(config: Any) -> Any:
    """A summary with the options of a ConfigProto or a NpuConfig as a table of Markdown."""
    _, options, origins = options_of(config)
    lines = ["| option | value | from |", "| --- | --- | --- |"]
    for name, value in options.items():
        cells = (name, str(value), str(origins.get(name, "")))
        lines.append("| {} |".format(" | ".join(cell.replace("|", "\\|") for cell in cells)))
    text_plugin = tf.SummaryMetadata.PluginData(plugin_name="text")
    metadata = tf.SummaryMetadata(plugin_data=text_plugin)
    text = "\n".join(lines).encode("utf-8", "backslashreplace")
    tensor = tf.make_tensor_proto(text, dtype=tf.string)
    summary = tf.Summary()
    summary.value.add(tag=TAG, metadata=metadata, tensor=tensor)
    return summary
