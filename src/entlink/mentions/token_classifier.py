"""Mentions by a token classifier in the layout of Hugging Face, run by torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from entlink.documents import Document, Mention
from entlink.encoders.text.windows import windows
from entlink.errors import ConfigError, InputError, MissingModelError
from entlink.mentions.labels import OUTSIDE, Scheme, Tagged

_CLASSIFIER = "ForTokenClassification"
_VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model")
_AT_ONCE = 8  # windows in a batch
_SHARE = 8  # of a window, that the next one reads again


class _Read(NamedTuple):
    """The tokens of a text, and of each the place of its characters and whether a word begins with it."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    begins: Sequence[bool]


class TokenClassifierDetector:
    """Takes what a token classifier labels for mentions, typed by its labels and scored by their mean probability.

    `model` is a folder with a model whose head labels tokens, in safetensors, and its tokenizer. Its labels may be
    BIO, BILOU, BIOES or plain types; the first token of a word decides for it. `labels` keeps the mentions of some
    types; without, all stay. A text longer than the model reads is read in windows that overlap.
    """

    needs = "the extra train and a model of Hugging Face"

    def __init__(self, model: str | Path, *, labels: Sequence[str] = ()) -> None:
        from entlink.encoders.extras import require_train

        folder = Path(model)
        if not folder.is_dir():
            raise MissingModelError(f"{model}: there is no such folder with a token classifier")
        require_train("the detector token-classifier")
        self._max_length = _checked_layout(folder)
        self._model = _loaded(folder)
        self._tokenizer, self._before, self._after = _tokenizer(folder)
        names = self._model.config.id2label
        self._names = [str(names[number]) for number in range(len(names))]
        if not any(name.upper() in OUTSIDE for name in self._names):
            raise InputError(
                f"{folder / 'config.json'}: none of the labels ({', '.join(self._names[:5])} …) is O, for words that "
                "are outside of all names. Name the labels in id2label"
            )
        self._scheme = Scheme(self._names)
        for label in labels:
            if label not in self._scheme.types:
                raise ConfigError(f"{folder}: no label {label!r}; there are {', '.join(self._scheme.types)}")
        self.labels = frozenset(labels)

    def detect(self, documents: Sequence[Document]) -> list[list[Mention]]:
        read = [self._read(document.text) for document in documents]
        labelled = iter(self._labelled(read))
        return [
            self._mentions(document.text, one, next(labelled)) for document, one in zip(documents, read, strict=True)
        ]

    def _mentions(self, text: str, read: _Read, labelled: Sequence[tuple[int, float]]) -> list[Mention]:
        found = self._scheme.mentions(text, self._words(read, labelled))
        return [mention for mention in found if not self.labels or mention.type in self.labels]

    def _read(self, text: str) -> _Read:
        from entlink.encoders.text.tokens import plain

        encoded = self._tokenizer.encode(plain(text), add_special_tokens=False)
        words, offsets = encoded.word_ids, encoded.offsets
        begins = [
            not at or words[at] != words[at - 1] or text[offsets[at - 1][1] : start + 1][:1].isspace()
            for at, (start, _) in enumerate(offsets)
        ]
        return _Read(encoded.ids, offsets, begins)

    def _words(self, read: _Read, labelled: Sequence[tuple[int, float]]) -> Iterator[Tagged]:
        """Each word with the label of its first token, from where that begins to where its last one ends."""
        places = [at for at, begins in enumerate(read.begins) if begins]
        for at, after in pairwise([*places, len(read.ids)]):
            label, score = labelled[at]
            yield Tagged(read.offsets[at][0], read.offsets[after - 1][1], self._names[label], score)

    def _labelled(self, read: Sequence[_Read]) -> list[list[tuple[int, float]]]:
        """The likeliest label of each token of each text, and how likely it is."""
        room = self._max_length - len(self._before) - len(self._after)
        parts = [
            (number, one) for number, text in enumerate(read) for one in windows(len(text.ids), room, room // _SHARE)
        ]
        parts.sort(key=lambda part: part[1].last - part[1].first)  # so that little of a batch is padding
        found: list[list[tuple[int, float]]] = [[(0, 0.0)] * len(text.ids) for text in read]
        for start in range(0, len(parts), _AT_ONCE):
            batch = parts[start : start + _AT_ONCE]
            rows = self._run([read[number].ids[one.first : one.last] for number, one in batch])
            for (number, one), row in zip(batch, rows, strict=True):
                found[number][one.from_ : one.to] = row[one.from_ - one.first : one.to - one.first]
        return found

    def _run(self, rows: Sequence[Sequence[int]]) -> list[list[tuple[int, float]]]:
        import torch

        marked = [[*self._before, *row, *self._after] for row in rows]
        longest = max(map(len, marked))
        padding = int(getattr(self._model.config, "pad_token_id", None) or 0)
        ids = torch.tensor([row + [padding] * (longest - len(row)) for row in marked])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in marked])
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits
        scores, labels = torch.softmax(logits.float(), dim=-1).max(dim=-1)
        begin = len(self._before)
        return [
            list(zip(own[begin : begin + len(row)], sure[begin : begin + len(row)], strict=True))
            for row, own, sure in zip(rows, labels.tolist(), scores.tolist(), strict=True)
        ]


def _checked_layout(folder: Path) -> int:
    """How many tokens the model reads at once, if its files say that it labels tokens."""
    from entlink.encoders.models.hugging_face import read_layout, weight_files

    layout = read_layout(folder)
    kinds = [str(kind) for kind in layout.config.get("architectures") or [layout.config.get("model_type", "?")]]
    if not any(kind.endswith(_CLASSIFIER) for kind in kinds):
        raise InputError(
            f"{folder}: this is {', '.join(kinds)}, no token classifier. Give a model with a head that labels tokens "
            f"(…{_CLASSIFIER}), such as one trained for named entities"
        )
    if not weight_files(folder):
        raise InputError(f"{folder}: no weights in safetensors are here. Fetch model.safetensors with the rest")
    return layout.max_length


def _loaded(folder: Path) -> Any:
    from safetensors import SafetensorError
    from transformers import AutoModelForTokenClassification
    from transformers.utils import logging

    bars: Any = logging
    is_shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        model, info = AutoModelForTokenClassification.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as problem:
        line = (str(problem).strip().splitlines() or [""])[0]
        raise InputError(f"{folder}: transformers cannot load it ({line}). Check it") from problem
    finally:
        if is_shown:
            bars.enable_progress_bar()
    if missing := sorted(info["missing_keys"]):
        raise InputError(f"{folder}: its weights lack {missing[0]}, which would be random. Fetch the folder again")
    return model.eval()


def _tokenizer(folder: Path) -> tuple[Any, list[int], list[int]]:
    """The tokenizer, and the model's own signs before a text and after it."""
    from entlink.encoders.text.tokens import signs_of
    from entlink.encoders.text.torch_tokenizer import fast_tokenizer

    if not any(next(folder.glob(kind), None) for kind in _VOCABULARIES):
        raise InputError(f"{folder}: no tokenizer is here. Fetch tokenizer.json with the weights")
    tokenizer = fast_tokenizer(folder)
    return tokenizer, *signs_of(tokenizer)
