"""Encoders as probes see them: mentions in sentences and descriptions to the vectors of every layer."""
