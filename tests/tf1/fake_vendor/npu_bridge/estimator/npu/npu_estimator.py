"""The Estimator of the fake vendor's package."""

from npu_bridge import Recorded


class NPUEstimator(Recorded):
    """Records its arguments."""
