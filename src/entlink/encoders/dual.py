"""Mentions and entities as vectors of one space, from an encoder of texts that was trained for neither.

A vector is the sum of two: of the name alone, and, weighing less, of the name among the words around it. For an
entity these are its title and its description, for a mention its surface and the text on both sides.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entlink.encoders.text.tokens import readable_end
from entlink.errors import ConfigError, InputError, MissingExtraError
from entlink.interfaces import DualEncoder, Encoder
from entlink.text.folding import is_spaceless

try:
    import numpy
except ImportError as problem:
    raise MissingExtraError("retrieval by vectors", "retrieval") from problem

if TYPE_CHECKING:
    from entlink.documents import Document, Entity, Mention
    from entlink.interfaces import Vectors

DESCRIPTION = CONTEXT = 0.5
CHARACTERS = 120  # of a description: 400 find no more on Schools Wikipedia, and take three times as long to read
_SPACE = re.compile(r"\s")
_SAFE = re.compile(r"[A-Za-z0-9._-]{1,60}")
_SHOWN = 60
_OF_A_DUAL = [name for name in (*DualEncoder.__annotations__, *vars(DualEncoder)) if not name.startswith("_")]


class PlainDual:
    """Any encoder of texts made an encoder of mentions and entities.

    `description` and `context` say how much the words around a name count beside the name; `characters` of a
    description are read, and `reach` characters on each side of a mention, both cut at the ends of words. In a
    conversation, earlier turns may be among them and later ones never are.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        description: float = DESCRIPTION,
        context: float = CONTEXT,
        characters: int = CHARACTERS,
        reach: int = 100,
    ) -> None:
        for setting, value in (("description", description), ("context", context)):
            if not 0 <= value < float("inf"):
                raise ConfigError(f"{setting} = {value} does not fit: it is a weight, from 0 (left out) upwards")
        for setting, count in (("characters", characters), ("reach", reach)):
            if count < 1:
                raise ConfigError(f"{setting} = {count} does not fit: it counts characters, 1 or more")
        self.encoder, self.name, self.dimension = encoder, encoder.name, encoder.dimension
        self.description, self.context = description, context
        self.characters, self.reach = characters, reach
        self.similarity = "cosine"
        self.spec: str | None = None  # the name or folder it was loaded by
        entities = f"plain 1 {encoder.identity} {description!r} {characters}"
        self.entity_identity = _identity(encoder.name, entities)
        self.identity = _identity(encoder.name, f"{entities} {context!r} {reach}")

    def encode_mentions(self, mentions: Sequence[tuple[Document, Mention]]) -> Vectors:
        """A row a mention; those with the same surface among the same words are encoded once."""
        read = [self._read_mention(document, mention) for document, mention in mentions]
        distinct = {pair: row for row, pair in enumerate(dict.fromkeys(read))}
        rows = self._sums(list(distinct), self.context)
        return rows[[distinct[pair] for pair in read]]

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        return self._sums([self._read_entity(entity) for entity in entities], self.description)

    def entity_content(self, entity: Entity) -> str:
        return "\n".join(self._read_entity(entity))

    def mention_content(self, document: Document, mention: Mention) -> str:
        """All that the vector of a mention depends on."""
        return "\n".join(self._read_mention(document, mention))

    def recipe(self) -> dict[str, Any]:
        """What makes the vectors of entities, if its encoder has a name; how mentions are read is left out."""
        if self.spec is None:
            return {}
        return {"load": self.spec, "description": self.description, "characters": self.characters}

    def _read_entity(self, entity: Entity) -> tuple[str, str]:
        """The title, and the title with the beginning of the description; nothing where there is none to read."""
        title, description = _one_line(entity.title), ""
        if self.description:
            description = _one_line(beginning(entity.description.lstrip(), self.characters))
        return title, f"{title}. {description}" if description else ""

    def _read_mention(self, document: Document, mention: Mention) -> tuple[str, str]:
        surface = _one_line(mention.text)
        if not surface or not self.context:
            return surface, ""
        around = _one_line(window(document, mention, self.reach))
        return surface, "" if around == surface else f"{instruction_of(self.encoder)}{around}"

    def _sums(self, pairs: Sequence[tuple[str, str]], weight: float) -> Vectors:
        """The unit vector of each name, its passage added with a weight; a name without words is zeros."""
        texts = {text: row for row, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair if text))}
        read = checked_vectors(self.encoder, self.encoder.encode(list(texts)), list(texts)) if texts else None
        sums = numpy.zeros((len(pairs), self.dimension), numpy.float32)
        if read is None:
            return sums
        named = [row for row, (name, _) in enumerate(pairs) if name]
        told = [row for row in named if pairs[row][1]]
        sums[named] = read[[texts[pairs[row][0]] for row in named]]
        wordless = ~sums.any(axis=1)
        sums[told] += weight * read[[texts[pairs[row][1]] for row in told]]
        sums[wordless] = 0
        return unit(sums)


def load_dual(
    spec: str | Path | Encoder | DualEncoder, *, description: float = DESCRIPTION, context: float = CONTEXT
) -> DualEncoder:
    """The dual encoder behind a name, a folder or an object; an encoder of plain texts is made one.

    The weights hold for an encoder of texts only: one that was trained on mentions and entities has its own.
    """
    if isinstance(spec, DualEncoder):
        return spec
    if hasattr(spec, "encode_mentions"):
        lacking = [name for name in _OF_A_DUAL if getattr(spec, name, None) is None]
        raise ConfigError(
            f"encoder = {spec!r} does not fit: it reads mentions, and has no {', '.join(lacking)}. Add that: "
            "DualEncoder in entlink.interfaces tells what it is"
        )
    if spec == "" or not isinstance(spec, (str, Path, Encoder)):
        raise ConfigError(f"encoder = {spec!r} does not fit: give the name of a model, or a folder with one")
    if not isinstance(spec, (str, Path)):
        return PlainDual(spec, description=description, context=context)
    return load_recipe({"load": str(spec), "description": description, "context": context})


def load_recipe(recipe: Mapping[str, Any]) -> DualEncoder:
    """The dual encoder that an index was made with, from what its card says of it."""
    from entlink.encoders.images.loading import reads_pictures
    from entlink.encoders.loading import card_of, load_encoder

    settings = dict(recipe)
    spec = settings.pop("load", None)
    if not spec:
        raise ConfigError("the encoder was given as an object and not by name, so it cannot be loaded again")
    if kept := _kept_of_blink(Path(spec)):
        spec = kept
    if reads_pictures(spec):
        from entlink.encoders.images.dual import load_picture_dual

        settings = {name: settings[name] for name in ("pictures", "fetch") if name in settings}
        return load_picture_dual(spec, **settings)
    found = card_of(spec)
    if found is not None and found[1].kind == "map":
        from entlink.encoders.trained.mapped import load_mapped

        return load_mapped(spec)
    if found is not None and found[1].kind in ("dual", "cross", "joint"):
        from entlink.encoders.trained.bi_encoder import load_trained_dual

        return load_trained_dual(spec)
    dual = PlainDual(load_encoder(spec), **settings)
    dual.spec = spec
    return dual


def _kept_of_blink(folder: Path) -> str | None:
    """The name of the model that a folder with BLINK's bi-encoder is converted to; None of any other folder."""
    if not any(folder.glob("biencoder*.bin")) or (folder / "config.json").is_file():
        return None
    from entlink.encoders.extras import require_retrieval

    require_retrieval("encoding mentions and entities")
    from entlink.encoders.blink_dual import keep_dual

    return keep_dual(folder)


def instruction_of(encoder: Encoder) -> str:
    """What an encoder wants before a passage that something is looked up by; nothing, for most."""
    return str(getattr(encoder, "instruction", ""))


def unit(vectors: Vectors) -> Vectors:
    """The rows at length 1; rows of zeros stay."""
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    return scaled


def as_compared(vectors: Vectors, dual: DualEncoder) -> Vectors:
    """The rows in the form whose products are the similarity: at length 1 for the cosine, else as they are."""
    return unit(vectors) if dual.similarity == "cosine" else vectors


def checked_vectors(encoder: Encoder | DualEncoder, vectors: Vectors, texts: Sequence[str]) -> Vectors:
    """What an encoder gave for the texts, if it is as many rows of numbers as it should be."""
    wanted = (len(texts), encoder.dimension)
    if vectors.shape != wanted:
        raise InputError(
            f"the encoder {encoder.name!r} gave an array of {vectors.shape} where one of {wanted} was due. "
            "Its weights and its settings do not fit together: load another"
        )
    finite = numpy.isfinite(vectors).all(axis=1)
    if not finite.all():
        text = texts[int(numpy.argmin(finite))][:_SHOWN]
        raise InputError(
            f"the encoder {encoder.name!r} gave no numbers (NaN or infinity) for the text {text!r}. "
            "Its weights are damaged, or overflow in this precision: fetch them again, or load another"
        )
    return vectors


def _identity(name: str, settings: str) -> str:
    return f"{safe_name(name)}-{hashlib.sha256(settings.encode()).hexdigest()[:16]}"


def safe_name(name: str) -> str:
    """A name as part of a file's name: what might not go into one is replaced by a digest."""
    return name if _SAFE.fullmatch(name) else hashlib.sha256(name.encode()).hexdigest()[:16]


def beginning(text: str, size: int) -> str:
    """The first `size` characters, less a word that the cut would break; a single long word is broken."""
    if len(text) <= size or not _breaks_a_word(text, size):
        return text[:size]
    cut = _after_last_space(text, 0, size)
    return text[: cut or size]


def window(document: Document, mention: Mention, reach: int) -> str:
    """The mention with `reach` characters on each side, less words that the cuts would break.

    Of a conversation nothing after the turn of the mention is taken: it reads the same when further turns come.
    """
    text, (start, end) = document.text, (mention.span.start, mention.span.end)
    size = readable_end(document, end)
    first, last = max(0, start - reach), min(size, end + reach)
    if first > 0 and _breaks_a_word(text, first):
        space = _SPACE.search(text, first, start)
        first = space.end() if space else first
    if last < size and _breaks_a_word(text, last):
        cut = _after_last_space(text, end, last)
        last = cut if cut > end else last
    return text[first:last]


def _breaks_a_word(text: str, at: int) -> bool:
    """Whether a cut before a character is inside a word; where there are no spaces, it may be anywhere."""
    before, after = text[at - 1], text[at]
    return not (before.isspace() or after.isspace() or is_spaceless(before) or is_spaceless(after))


def _after_last_space(text: str, start: int, end: int) -> int:
    """The end of the last white space between two places, or `start` if there is none."""
    while end > start and not text[end - 1].isspace():
        end -= 1
    return end


def _one_line(text: str) -> str:
    """A newline in a text is read as a space, so that a name and its passage can be told apart."""
    return " ".join(text.split())
