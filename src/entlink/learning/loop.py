"""The training loop: steps, looks at what is held out, and checkpoints to go on from.

What a step does depends on its number and the seed alone, so that a training that was killed and resumed ends in the
same weights as one that was not. Only where `minutes` end it does the clock have a say.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import torch
from torch import Tensor

from entlink.errors import InputError
from entlink.learning.checkpoints import Checkpoint, Checkpoints, Look, State
from entlink.learning.pairs.batches import Lessons, choose, epoch_order

if TYPE_CHECKING:
    from entlink.io.progress import Progress
    from entlink.learning.pairs.learners import Learner
    from entlink.learning.train_config import TrainingConfig

_SEEDS_APART = 1_000_003
_SEEDS = 2**63  # torch takes no larger ones
_MOST_LOST = 300.0  # seconds of work that a kill may cost, however long a step takes
_PLAIN = ("bias", "LayerNorm.weight")  # what weights decay is not for
_OF_TYPES = "type_heads."


_Taught = TypeVar("_Taught", bound=Lessons)


class Loop(Generic[_Taught]):
    """One training: a learner, what it learns from, and how far it has come."""

    def __init__(
        self,
        learner: Learner[_Taught],
        material: _Taught,
        held_out: _Taught | None,
        config: TrainingConfig,
        checkpoints: Checkpoints,
        progress: Progress,
        *,
        minutes: float | None = None,
        spent: float = 0.0,
    ) -> None:
        self._learner, self._material, self._held_out = learner, material, held_out
        self._config, self._checkpoints, self._progress = config, checkpoints, progress
        self._a_step = config.batch * config.accumulate
        self._per_epoch = math.ceil(len(material) / self._a_step)
        self.total = config.steps or config.epochs * self._per_epoch
        self._optimizer = make_optimizer(learner.network, config)
        self._state = State()
        self._best: dict[str, Any] | None = None
        self._budget = minutes * 60 if minutes is not None else None
        self._began = monotonic() - spent
        self._look_seconds = 0.0
        self._saved = monotonic()
        self._order: tuple[int, Any] = (-1, None)

    def run(self, *, look_first: bool) -> State:
        """Train to the end, from the checkpoint if there is one; the network has the best weights then."""
        self._resume()
        for material in (self._material, self._held_out):
            if material is not None:
                self._learner.prepare(material, self._progress)
        state = self._state
        if state.step == 0 and look_first and not state.history:
            self._look()
        while state.step < self.total and not self._enough():
            if self._time_is_up():
                break
            loss = self._step(state.step)
            state.step += 1
            state.summed += loss
            state.counted += 1
            loss = state.summed / state.counted
            self._progress(f"training, loss {loss:.3f}", self._done(state.step) * self.total, self.total)
            self._after_step()
        if state.counted or not state.history:
            self._look()
        if self._best is not None:
            self._learner.network.load_state_dict(self._best)
        state.seconds = self._elapsed()
        return state

    def _resume(self) -> None:
        found = self._checkpoints.load()
        if found is None:
            return
        self._learner.network.load_state_dict(found.network)
        self._optimizer.load_state_dict(found.optimizer)
        self._state, self._best = found.state, found.best
        self._began -= found.state.seconds

    def _step(self, number: int) -> float:
        """One step of the optimizer, over as many batches as are accumulated; its mean loss."""
        config, network = self._config, self._learner.network
        for group in self._optimizer.param_groups:
            group["lr"] = config.learning_rate * group["times"] * self._rate(number)
        torch.manual_seed((config.seed * _SEEDS_APART + number) % _SEEDS)
        network.train()
        chosen = self._chosen(number)
        batches = [chosen[start : start + config.batch] for start in range(0, len(chosen), config.batch)]
        weight = self._learner.weigh(self._material, chosen)
        summed = 0.0
        for batch in batches:
            loss = self._learner.loss(self._material, batch) / weight
            loss.backward()  # type: ignore[no-untyped-call]
            summed += float(loss.detach())
        length = torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip)
        self._check_finite(summed, length, number)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return summed

    def _chosen(self, number: int) -> list[Any]:
        epoch, place = divmod(number, self._per_epoch)
        if self._order[0] != epoch:
            self._order = epoch, epoch_order(self._config.seed, epoch, len(self._material))
        taken = self._order[1][place * self._a_step : (place + 1) * self._a_step]
        return choose(self._material, taken.tolist(), self._config, epoch)

    def _rate(self, number: int) -> float:
        """The share of the learning rate at a step: up, then down to nothing, by the clock if that ends it first."""
        done, warmup = self._done(number), self._config.warmup
        if done < warmup:
            return min(1.0, (done + 1 / self.total) / warmup)
        return (1 - done) / (1 - warmup) if warmup < 1 else 1.0

    def _done(self, number: int) -> float:
        """The share of all that is done after so many steps, by the clock if that ends it first."""
        done = number / self.total
        return done if self._budget is None else max(done, min(1.0, self._elapsed() / self._budget))

    def _after_step(self) -> None:
        config, step = self._config, self._state.step
        if step < self.total and step % (config.evaluate_every or self._per_epoch) == 0:
            self._look()
            self._save()
        elif config.checkpoint_every and (step % config.checkpoint_every == 0 or self._much_is_unsaved()):
            self._save()

    def _look(self) -> None:
        """Note the loss, and what the network does on what is held out; keep its weights if it is the best so far."""
        state, began = self._state, monotonic()
        figure = None
        if self._held_out is not None:
            network = self._learner.network.eval()
            with torch.inference_mode():
                figure = self._learner.figure(self._held_out, self._progress, "looking at what is held out")
            state.waited += 1
            if state.best is None or figure > state.best:
                state.best, state.best_step, state.waited = figure, state.step, 0
                self._best = {name: value.detach().clone() for name, value in network.state_dict().items()}
        loss = state.summed / state.counted if state.counted else None
        state.summed, state.counted = 0.0, 0
        self._look_seconds = monotonic() - began
        state.history.append(Look(state.step, loss, figure, round(self._elapsed(), 1)))

    def _save(self) -> None:
        self._state.seconds = self._elapsed()
        network, optimizer = self._learner.network.state_dict(), self._optimizer.state_dict()
        self._checkpoints.save(Checkpoint(self._state, network, optimizer, self._best))
        self._saved = monotonic()

    def _much_is_unsaved(self) -> bool:
        return monotonic() - self._saved >= _MOST_LOST

    def _enough(self) -> bool:
        return 0 < self._config.patience <= self._state.waited

    def _elapsed(self) -> float:
        return monotonic() - self._began

    def _time_is_up(self) -> bool:
        """Whether the time that is left is needed for the last look."""
        if self._budget is None or self._elapsed() + self._look_seconds < self._budget:
            return False
        if self._state.step == 0:
            raise InputError(
                f"{self._budget / 60:g} minutes are too few for one step: to read the examples and look at what is "
                f"held out took {self._elapsed():.0f} seconds. Give more minutes, or set training.held_out lower"
            )
        return True

    def _check_finite(self, loss: float, length: Tensor, number: int) -> None:
        if math.isfinite(loss) and bool(torch.isfinite(length)):
            return
        hint = ", or training.precision to fp32" if self._config.precision != "fp32" else ""
        raise InputError(
            f"training went astray at step {number + 1}: the loss is {loss:g} and the gradient {float(length):g}. "
            f"Set training.learning_rate below {self._config.learning_rate:g}{hint}, and begin anew with --restart; "
            "check the weights of the base"
        )


def make_optimizer(network: torch.nn.Module, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW over what is trained; biases and norms do not decay, and layers of types learn faster."""
    groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for name, value in network.named_parameters():
        if value.requires_grad:
            times = config.type_rate if name.startswith(_OF_TYPES) else 1.0
            decay = 0.0 if name.endswith(_PLAIN) else config.decay
            groups.setdefault((times, decay), []).append(value)
    told = [{"params": own, "times": times, "weight_decay": decay} for (times, decay), own in groups.items()]
    return torch.optim.AdamW(told, lr=config.learning_rate)
