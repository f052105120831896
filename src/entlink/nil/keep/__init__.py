"""Which links to keep, decided after ranking by a model in the box."""

from entlink.nil.keep.policy import KeepPolicy

__all__ = ["KeepPolicy"]
