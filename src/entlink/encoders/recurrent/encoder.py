"""EntELMo or ELMo as an encoder."""

from __future__ import annotations

WEIGHTS = "weights.safetensors"
