"""When a mention means no entity of the knowledge base."""

from entlink.nil.calibrated import CalibratedNil
from entlink.nil.judged import JudgedNil
from entlink.nil.threshold import ThresholdNil, threshold_nil

__all__ = ["CalibratedNil", "JudgedNil", "ThresholdNil", "threshold_nil"]
