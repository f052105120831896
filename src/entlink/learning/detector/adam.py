"""Gradient descent over arrays of numpy: for models too small to need torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]

_FIRST, _SECOND, _SMALL = 0.9, 0.999, 1e-8


class Adam:
    """AdamW over some arrays, which are changed in place; only matrices decay."""

    def __init__(self, weights: list[Floats], decay: float) -> None:
        import numpy

        self._first = [numpy.zeros_like(one) for one in weights]
        self._second = [numpy.zeros_like(one) for one in weights]
        self._steps, self._decay = 0, decay

    def step(self, weights: list[Floats], gradients: list[Floats], rate: float) -> None:
        import numpy

        self._steps += 1
        for weight, gradient, first, second in zip(weights, gradients, self._first, self._second, strict=True):
            first += (1 - _FIRST) * (gradient - first)
            second += (1 - _SECOND) * (gradient**2 - second)
            mean, square = first / (1 - _FIRST**self._steps), second / (1 - _SECOND**self._steps)
            if weight.ndim > 1:
                weight *= 1 - rate * self._decay
            weight -= rate * mean / (numpy.sqrt(square) + _SMALL)
