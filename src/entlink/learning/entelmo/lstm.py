"""An LSTM with a projection and clipping, as ELMo has it, and no step for padding.

Sequences are packed: sorted from the longest on, the tokens of one time step after those of the step before. So a
step works on as many rows as are that long. `torch.nn.LSTM` has a projection, but no clipping and no bfloat16.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class ProjectedLstm(nn.Module):
    """One direction; the values of a cell and of its projection are cut off at `clip`.

    The gates are in the order input, forget, output, new values. The forget gates begin with a bias of 1. With
    `bf16`, matrix products are in bfloat16.
    """

    def __init__(self, width: int, hidden: int, projection: int, clip: float, *, bf16: bool = False) -> None:
        super().__init__()
        self.clip, self.bf16 = clip, bf16
        self.input = nn.Parameter(torch.empty(4 * hidden, width))
        self.recurrent = nn.Parameter(torch.empty(4 * hidden, projection))
        self.bias = nn.Parameter(torch.zeros(4 * hidden))
        self.projection = nn.Parameter(torch.empty(projection, hidden))
        for weight in (self.input, self.recurrent, self.projection):
            nn.init.xavier_uniform_(weight)
        self.bias.data[hidden : 2 * hidden] = 1.0

    def forward(self, packed: Tensor, sizes: Sequence[int]) -> Tensor:
        """Packed rows [tokens, width] to states [tokens, projection]; `sizes` are the rows of each time step."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            gates = nn.functional.linear(packed, self.input)  # [tokens, 4h]
        found: Tensor = _Recurrence.apply(  # type: ignore[no-untyped-call]
            gates.to(self.bias.dtype) + self.bias, self.recurrent, self.projection, list(sizes), self.clip, self.bf16
        )
        return found


class _Recurrence(torch.autograd.Function):
    """The loop over time with its gradient by hand: that of the weights is one product each, made at the end."""

    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, recurrent: Tensor, projection: Tensor, sizes: list[int], clip: float, bf16: bool
    ) -> Tensor:
        tokens, hidden = gates.shape[0], projection.shape[1]
        kind = torch.bfloat16 if bf16 else gates.dtype
        down, up = recurrent.to(kind).t(), projection.to(kind).t()
        acts, cells, squashed, outs = (torch.empty_like(gates), *(gates.new_empty(tokens, hidden) for _ in range(3)))
        states = gates.new_empty(tokens, projection.shape[0])
        start, before = 0, -1
        for size in sizes:
            own, cell, state = (all[start : start + size] for all in (acts, cells, states))
            if before < 0:
                own.copy_(gates[:size])
            else:
                earlier = states[before : before + size].to(kind)
                torch.add(gates[start : start + size], torch.mm(earlier, down), out=own)
            into, forget, out, new = torch.split(own, hidden, dim=1)
            own[:, : 3 * hidden].sigmoid_()
            new.tanh_()
            torch.mul(into, new, out=cell)
            if before >= 0:
                cell.addcmul_(forget, cells[before : before + size])
            cell.clamp_(-clip, clip)
            flat = torch.tanh(cell, out=squashed[start : start + size])
            given = torch.mul(out, flat, out=outs[start : start + size])
            state.copy_(torch.mm(given.to(kind), up)).clamp_(-clip, clip)
            start, before = start + size, start
        ctx.save_for_backward(acts, cells, squashed, outs, states, recurrent, projection)
        ctx.sizes, ctx.clip, ctx.kind = sizes, clip, kind
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        acts, cells, squashed, outs, states, recurrent, projection = ctx.saved_tensors
        sizes, kind, hidden = ctx.sizes, ctx.kind, projection.shape[1]
        across, back = projection.to(kind), recurrent.to(kind)
        open_states, open_cells = states.abs() < ctx.clip, cells.abs() < ctx.clip  # what was cut off has no gradient
        moved = grads[0] * open_states
        given = torch.empty_like(acts)
        end, later, carried = acts.shape[0], 0, acts.new_zeros(0, hidden)
        for number in reversed(range(len(sizes))):
            size, start = sizes[number], end - sizes[number]
            now = slice(start, end)
            into, forget, out, new = torch.split(acts[now], hidden, dim=1)
            d_into, d_forget, d_out, d_new = torch.split(given[now], hidden, dim=1)
            d_state, flat = moved[now], squashed[now]
            if later:
                found = torch.mm(given[end : end + later].to(kind), back)
                d_state[:later] += found * open_states[start : start + later]
            d_given = torch.mm(d_state.to(kind), across).to(acts.dtype)
            d_cell = d_given * out * (1 - flat * flat)
            d_cell[:later] += carried
            d_cell *= open_cells[now]
            torch.mul(d_cell * new, into * (1 - into), out=d_into)
            torch.mul(d_given * flat, out * (1 - out), out=d_out)
            torch.mul(d_cell * into, 1 - new * new, out=d_new)
            if number:
                earlier = start - sizes[number - 1]
                torch.mul(d_cell * cells[earlier : earlier + size], forget * (1 - forget), out=d_forget)
            else:
                d_forget.zero_()
            carried = d_cell * forget
            end, later = start, size
        d_recurrent = torch.mm(given[sizes[0] :].to(kind).t(), states[_previous(sizes)].to(kind))
        d_projection = torch.mm(moved.to(kind).t(), outs.to(kind))
        return given, d_recurrent.to(acts.dtype), d_projection.to(acts.dtype), None, None, None


def _previous(sizes: Sequence[int]) -> Tensor:
    """Of each packed token but the first of its row, the place of the one before it."""
    places, start = [], 0
    for before, size in itertools.pairwise(sizes):
        places.append(torch.arange(start, start + size))
        start += before
    return torch.cat(places) if places else torch.zeros(0, dtype=torch.long)
