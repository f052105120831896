"""How like a document's picture an entity's is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from entlink.errors import EntlinkError
from entlink.interfaces import Shortlist
from entlink.kb.indexes.derived import PICTURES, has_derived
from entlink.kb.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from entlink.kb.indexes.vectors.pictures import PictureCosines, TextCosines

_BY_CHANCE = 0.6  # few pictures of different things have a larger cosine


class PicturesEvidence:
    """The cosine between the first picture of the document and that of each candidate.

    A candidate has no number where either picture is missing or cannot be used; else `pictured` is 1 beside it.
    `alike` is 0 for most pictures, which look like others by chance, and rises to 1 for those that are the same: it
    speaks for a candidate, and never against one. `encoder` is that of the index that `entlink kb index --pictures`
    made, unless it is named; `pictures` is the folder of entities' pictures, `fetch` takes those that are addresses.
    Nothing is loaded before the first document with a picture. With `indexed`, pictures are looked at only where
    there is such an index and what it needs; where not, a warning says once what is missing.
    `texts` is for an encoder that reads texts, too, as a CLIP does, which is then loaded at once: `picture_title` is
    the cosine of the document's picture and the candidate's title, `caption_picture` that of the document's text and
    the candidate's picture.
    """

    needs = "the extra images and an encoder of pictures"
    gives = ("pictures", "pictured", "alike", "picture_title", "caption_picture")

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        encoder: str | None = None,
        pictures: str | None = None,
        fetch: bool = False,
        indexed: bool = False,
        texts: bool = False,
    ) -> None:
        self.kb = kb
        self._settings = {"encoder": encoder, "pictures": pictures}
        self._fetch, self._indexed, self._has_told = fetch, indexed, False
        self._cosines: PictureCosines | None = None
        self._texts = texts
        if texts:
            self._cosines = self._made()
            self._cosines.dual.encode_texts([""])  # an encoder of pictures alone is an error now, and not later

    def knowledge_base_changed(self) -> None:
        if self._cosines is not None:
            self._cosines.forget()

    def gather(self, shortlists: Sequence[Shortlist]) -> list[Sequence[Mapping[str, float]]]:
        if any(one.document.images and one.candidates for one in shortlists):
            cosines = self._opened()
            if cosines is not None:
                found: list[Sequence[Mapping[str, float]]] = [
                    list(map(_numbers, own)) for own in cosines.of(shortlists)
                ]
                return _with_texts(found, cosines.of_texts(shortlists)) if self._texts else found
        return [[{} for _ in one.candidates] for one in shortlists]

    def _opened(self) -> PictureCosines | None:
        """What compares pictures; None where there is no index, and one is wanted."""
        if self._cosines is not None:
            return self._cosines
        if not self._indexed:
            self._cosines = self._made()
        elif not has_derived(self.kb.index_folder, PICTURES):
            self._tell_once(f"entlink kb index {self.kb.folder} --pictures efficientnet-lite0")
        else:
            try:
                self._cosines = self._made()
            except EntlinkError as problem:
                self._tell_once(str(problem))
        return self._cosines

    def _made(self) -> PictureCosines:
        from entlink.encoders.extras import require_images

        require_images("comparing pictures")
        from entlink.kb.indexes.vectors.pictures import PictureCosines

        made = PictureCosines(self.kb, **self._settings, fetch=self._fetch)
        if self._indexed:
            made.load()
        return made

    def _tell_once(self, better: str) -> None:
        if not self._has_told:
            self._has_told = True
            import logging

            logging.getLogger(__name__).warning(
                "%s: pictures of documents are not looked at. Better with: %s", self.kb.folder.name, better
            )


def _with_texts(
    numbers: Sequence[Sequence[Mapping[str, float]]], texts: Sequence[Sequence[TextCosines]]
) -> list[Sequence[Mapping[str, float]]]:
    """The numbers, and beside them the cosines across pictures and texts that there are."""
    return [
        [
            {**one, **{name: cosine for name, cosine in more._asdict().items() if cosine is not None}}
            for one, more in zip(own, others, strict=True)
        ]
        for own, others in zip(numbers, texts, strict=True)
    ]


def _numbers(cosine: float | None) -> Mapping[str, float]:
    if cosine is None:
        return {}
    return {"pictures": cosine, "pictured": 1.0, "alike": max(0.0, cosine - _BY_CHANCE) / (1.0 - _BY_CHANCE)}
