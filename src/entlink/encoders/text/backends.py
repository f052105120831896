"""What runs a model: a batch of token ids to the hidden state of each token."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from entlink.errors import InputError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Ids = NDArray[numpy.int64]
    Hidden = NDArray[numpy.float32]

_MOST_THREADS = 8
_HIDDEN_NAMES = ("last_hidden_state", "token_embeddings", "hidden_states")


class Backend(Protocol):
    """A model that was loaded."""

    dimension: int

    def run(self, ids: Ids, mask: Ids) -> Hidden:
        """The hidden states, shaped rows, tokens, dimension."""

    def run_middle(self, ids: Ids, mask: Ids) -> Hidden:
        """The same half way through the layers, where they tell more of each word and less of the whole text."""

    def run_layers(self, ids: Ids, mask: Ids, kinds: Ids) -> list[Hidden]:
        """The same of every layer, the embedding first; `kinds` is 1 for the tokens of a second text.

        Only the last layer where a model does not give the others.
        """


class OnnxBackend:
    """A model in onnxruntime, from a file or from bytes."""

    def __init__(self, model: Path | bytes, threads: int | None = None) -> None:
        self._model, self._threads = model, threads
        self._session = open_session(model, threads)
        self._inputs = {one.name: one.type for one in self._session.get_inputs()}
        self._output, self.dimension = _hidden_output(self._session, model)

    def run(self, ids: Ids, mask: Ids) -> Hidden:
        return self._run(self._session, self._output, ids, mask)

    def run_middle(self, ids: Ids, mask: Ids) -> Hidden:
        """The layer in the middle, where the graph is one of ours; of others, the last."""
        session, output = self._middle
        return self._run(session, output, ids, mask)

    @cached_property
    def _middle(self) -> tuple[Any, str]:
        """A session that computes the first half of the layers only."""
        from entlink.encoders.text.middle_layer import cut_after_middle

        cut = cut_after_middle(self._model)
        return (self._session, self._output) if cut is None else (open_session(cut.graph, self._threads), cut.output)

    def run_layers(self, ids: Ids, mask: Ids, kinds: Ids) -> list[Hidden]:
        session, outputs = self._all_layers
        found: list[Hidden] = session.run(outputs, self._feed(ids, mask, kinds))
        return found

    @cached_property
    def _all_layers(self) -> tuple[Any, list[str]]:
        """A session with an output for each layer, where the graph is one of ours; of others, the last."""
        from entlink.encoders.text.middle_layer import with_all_layers

        found = with_all_layers(self._model)
        return (
            (self._session, [self._output])
            if found is None
            else (open_session(found.graph, self._threads), found.outputs)
        )

    def _run(self, session: Any, output: str, ids: Ids, mask: Ids) -> Hidden:
        import numpy

        hidden: Hidden = session.run([output], self._feed(ids, mask, numpy.zeros_like(ids)))[0]
        return hidden

    def _feed(self, ids: Ids, mask: Ids, kinds: Ids) -> dict[str, Any]:
        import numpy

        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        if "position_ids" in self._inputs:
            given["position_ids"] = numpy.broadcast_to(numpy.arange(ids.shape[1]), ids.shape)
        return {
            name: numpy.ascontiguousarray(given[name], dtype=numpy.int32 if "int32" in kind else numpy.int64)
            for name, kind in self._inputs.items()
        }


def open_session(model: Path | bytes, threads: int | None) -> Any:
    """A model in onnxruntime, on the cores of this machine."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or default_threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Waiting threads that spin made it 1.7 times slower on a busy machine; on an idle one this was not measured.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # it pays where shapes repeat, and here they do not
    source = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # the library's own errors have no base but this
        where = "the model" if isinstance(model, bytes) else model
        raise InputError(f"{where}: onnxruntime cannot load it ({_first_line(problem)}). Fetch it again") from problem


class TorchBackend:
    """A model in torch, loaded by transformers from a local folder."""

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        from entlink.encoders.extras import require_train

        require_train(f"a model such as the one in {folder}")
        import torch
        from transformers import AutoModel

        if threads:
            torch.set_num_threads(threads)
        try:
            model: Any = AutoModel.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as problem:
            raise InputError(f"{folder}: transformers cannot load it ({_first_line(problem)}). Check it") from problem
        self._model = model.float().eval()
        self.dimension = int(model.config.hidden_size)

    def run(self, ids: Ids, mask: Ids) -> Hidden:
        hidden: Hidden = self._run(ids, mask).last_hidden_state.numpy()
        return hidden

    def run_middle(self, ids: Ids, mask: Ids) -> Hidden:
        layers = self._run(ids, mask, output_hidden_states=True).hidden_states
        hidden: Hidden = layers[(len(layers) - 1) // 2].numpy()
        return hidden

    def run_layers(self, ids: Ids, mask: Ids, kinds: Ids) -> list[Hidden]:
        import torch

        wanted: dict[str, Any] = {"output_hidden_states": True}
        if getattr(self._model.config, "type_vocab_size", 0) > 1:
            wanted["token_type_ids"] = torch.from_numpy(kinds)
        return [one.numpy() for one in self._run(ids, mask, **wanted).hidden_states]

    def _run(self, ids: Ids, mask: Ids, **wanted: Any) -> Any:
        import torch

        with torch.inference_mode():
            return self._model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask), **wanted)


def default_threads() -> int:
    """The cores this process may use, at most eight: more hardly help with short texts."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST_THREADS, cores))


def _hidden_output(session: Any, model: Path | bytes) -> tuple[str, int]:
    """The output with a row a token, and its width."""
    outputs = {one.name: one.shape for one in session.get_outputs() if one.shape is None or len(one.shape) == 3}
    known = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
    strange = [one.name for one in session.get_inputs() if one.name not in known]
    where = "the model" if isinstance(model, bytes) else str(model)
    if strange:
        raise InputError(f"{where}: the model wants an input {strange[0]!r}. Export it as a plain text encoder")
    name = next((name for name in (*_HIDDEN_NAMES, *outputs) if name in outputs), None)
    if name is None:
        told = ", ".join(one.name for one in session.get_outputs())
        raise InputError(f"{where}: no output has a row a token (there is {told}). Export it with last_hidden_state")
    width = outputs[name][-1] if outputs[name] else None
    if isinstance(width, int):
        return name, width
    import numpy

    one = numpy.ones((1, 1), numpy.int64)
    kinds = {item.name: numpy.int32 if "int32" in item.type else numpy.int64 for item in session.get_inputs()}
    return name, int(session.run([name], {key: one.astype(kind) for key, kind in kinds.items()})[0].shape[-1])


def _first_line(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:300]
