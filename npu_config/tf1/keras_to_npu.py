"""``keras_to_npu``: a Keras model as an Estimator on the NPU."""

from __future__ import annotations

from typing import Any, Dict, Optional

from npu_config.tf1._lazy import rules
from npu_config.tf1.estimator import NPUEstimator
from npu_config.tf1.tensorflow import tf


def model_to_npu_estimator(
    keras_model: Any = None,
    keras_model_path: Optional[str] = None,
    custom_objects: Optional[Dict[str, Any]] = None,
    model_dir: Optional[str] = None,
    checkpoint_format: str = "saver",
    config: Any = None,
    job_start_file: str = "",
) -> Any:
    """Turn a compiled Keras model into an NPUEstimator.

    Callbacks of Keras do not work after that.

    Args:
        keras_model: a compiled sequential or functional model; this or ``keras_model_path``.
        keras_model_path: a file that holds one.
        custom_objects: names in the file to classes and functions.
        model_dir: directory of checkpoints and logs.
        checkpoint_format: ``"saver"`` or ``"checkpoint"``.
        config: an NPURunConfig.
        job_start_file: as for NPUEstimator.

    Raises:
        NpuConfigError: none or both of model and path are given, or as NPUEstimator.
    """
    if (keras_model is None) == (keras_model_path is None):
        given = "none" if keras_model is None else "both"
        raise rules.estimator_argument.error(
            "exactly one of keras_model and keras_model_path is needed, got {}".format(given)
        )
    made = tf.keras.estimator.model_to_estimator(
        keras_model=keras_model,
        keras_model_path=keras_model_path,
        custom_objects=custom_objects,
        model_dir=model_dir,
        config=config,
        checkpoint_format=checkpoint_format,
    )
    return NPUEstimator(
        model_fn=made._model_fn,
        model_dir=made.model_dir,
        config=config,
        job_start_file=job_start_file,
        warm_start_from=made._warm_start_settings,
    )
