"""Names by which the runtime finds things, for modules that must import next to nothing."""

from __future__ import annotations

from typing import Dict, Iterable, Optional

NPU_OPTIMIZER = "NpuOptimizer"
"""The name of the adapter's entry among the ``custom_optimizers``."""

ITERATION_OP = "IterationOp"
"""The name by which the adapter finds the operation that makes the loop."""

OWN_OPERATOR = "_npu_config_own"
"""The attribute of operators that a stand-in makes and the vendor's package does not."""

OWN_SPANS = "_npu_config_own_spans"
"""The attribute of a ``tf.Graph`` with the versions between which such operators were made."""

ADAPTER = "TF Adapter"
TENSORFLOW = "TensorFlow"
OURS = frozenset((ADAPTER, TENSORFLOW))
"""The frameworks that are judged: a script for the NPU, and one that may become one."""

_OTHERS = {
    "PyTorch": "torch torch_npu torchvision torchaudio accelerate apex bmtrain colossalai "
    "deepspeed detectron2 fairseq lightning llamafactory megatron mindspeed mindspeed_llm mmcv "
    "mmengine modellink pytorch_lightning sglang swift vllm",
    "MindSpore": "mindspore mindaudio mindcv mindflow mindformers mindnlp mindocr mindone "
    "mindyolo",
    "PaddlePaddle": "paddle paddlenlp ppdet",
    "JAX": "jax flax",
    "MXNet": "mxnet",
    "TensorFlow 2": "npu_device",
}
_OTHER: Dict[str, str] = {
    module: name for name, modules in _OTHERS.items() for module in modules.split()
}
_OF_ADAPTER = frozenset(("npu_bridge", "npu_config"))


def of_modules(modules: Iterable[str]) -> Optional[str]:
    """The framework of a script that imports these modules; None where they do not show it.

    Scripts of other frameworks import TensorFlow, too, for its summaries.

    Args:
        modules: their first names: ``"tensorflow"`` for ``tensorflow.keras``.
    """
    names = tuple(modules)
    if not _OF_ADAPTER.isdisjoint(names):
        return ADAPTER
    other = next((_OTHER[name] for name in names if name in _OTHER), None)
    return other or (TENSORFLOW if "tensorflow" in names else None)
