"""A conversation to its threads: paths of utterances from a post to a last reply, as documents with gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from entlink.datasets.conversations.augmenting import Surfaces
from entlink.datasets.conversations.domains import Domain
from entlink.datasets.conversations.mentions import Annotation
from entlink.datasets.conversations.options import ConversationOptions
from entlink.datasets.conversations.pruning import Preparer, Ready
from entlink.datasets.conversations.reply_trees import Fault, Reply, ReplyTree
from entlink.documents import Document, GoldLink, Mention, Span, Turn
from entlink.sources.convokit import Utterance

_LANGUAGE = "en"


class Conversation:
    """All utterances of one conversation, in any order, and the domain it is of."""

    def __init__(self, id: str, utterances: Sequence[Utterance], domain: Domain | None) -> None:
        self.id, self.domain = id, domain
        self.utterances = {utterance.id: utterance for utterance in utterances}
        self.tree = ReplyTree(Reply(one.id, one.parent, one.time) for one in utterances)
        self.time = min((self.utterances[id].time for id in self.tree.roots), default=0)

    def faults(self) -> Iterator[Fault]:
        return self.tree.faults()


class ThreadMaker:
    """Makes the threads of one conversation after the other; `counts` tells what became of them."""

    def __init__(self, preparer: Preparer, options: ConversationOptions) -> None:
        self.counts: Counter[str] = Counter()
        self._preparer, self._options = preparer, options

    def threads(self, conversation: Conversation) -> Iterator[Document]:
        """The threads that are long enough and have gold enough."""
        prepared = (
            self._preparer.prepare(conversation.utterances[id], conversation.domain) for id in conversation.tree.order
        )
        kept = {ready.utterance.id: ready for ready in prepared if ready is not None}
        self.counts["replies dated before what they answer"] += conversation.tree.early()
        if not any(ready.annotations for ready in kept.values()):
            self.counts["conversations without gold"] += 1
            return
        tree = conversation.tree
        paths = tree.threads(kept) if self._options.pruned == "utterance" else tree.whole_threads(kept)
        augment = self._augmenter(list(kept.values()))
        for path in paths:
            self.counts["paths"] += 1
            document = self._thread(conversation, [kept[id] for id in path], augment)
            if document is not None:
                yield document

    def _thread(self, conversation: Conversation, path: list[Ready], augment: _Augmenter) -> Document | None:
        if len(path) < self._options.min_utterances:
            self.counts["too short"] += 1
            return None
        gold = augment.thread(path)
        if sum(map(len, gold)) < self._options.min_annotations:
            self.counts["without gold"] += 1
            return None
        return _document(conversation, path, gold, anonymous=self._options.anonymous)

    def _augmenter(self, kept: list[Ready]) -> _Augmenter:
        return _Augmenter(kept, self._options, self.counts)


class _Augmenter:
    """Finds further occurrences of what is linked, as far as the options say."""

    def __init__(self, conversation: Sequence[Ready], options: ConversationOptions, counts: Counter[str]) -> None:
        self._options, self._counts = options, counts
        self._of_all: Surfaces | None = None
        self._of_speakers: dict[str, Surfaces] = {}
        if options.augment == "conversation":
            self._of_all = self._surfaces(conversation)
        elif options.augment == "speaker":
            speakers = dict.fromkeys(ready.utterance.speaker for ready in conversation)
            self._of_speakers = {
                name: self._surfaces([ready for ready in conversation if ready.utterance.speaker == name])
                for name in speakers
            }

    def _surfaces(self, utterances: Sequence[Ready]) -> Surfaces:
        linked = (
            (ready.text[one.span.start : one.span.end], one) for ready in utterances for one in ready.annotations
        )
        return Surfaces(((surface, one.entity) for surface, one in linked), self._options.unaugmented)

    def thread(self, path: Sequence[Ready]) -> list[tuple[Annotation, ...]]:
        """The annotations of each utterance of a thread, further occurrences among them."""
        if self._options.augment == "none":
            return [ready.annotations for ready in path]
        of_thread = self._surfaces(path) if self._options.augment == "thread" else self._of_all
        gold = []
        for ready in path:
            surfaces = of_thread if of_thread is not None else self._of_speakers[ready.utterance.speaker]
            gold.append(surfaces.augment(ready.text, ready.annotations, ready.refused))
            self._counts["annotations added"] += len(gold[-1]) - len(ready.annotations)
        return gold


def with_title(document: Document, title: str) -> Document:
    """The thread with the title of its post in its meta."""
    return msgspec.structs.replace(document, meta={**document.meta, "title": title})


def is_exact(document: Document) -> bool:
    """Whether a mention of the thread is its entity's title, case aside."""
    return any(gold.meta.get("exact") for gold in document.gold)


def _document(
    conversation: Conversation, path: Sequence[Ready], gold: Sequence[Sequence[Annotation]], *, anonymous: bool
) -> Document:
    speakers = _speakers(path, anonymous)
    first = path[0].utterance
    meta = {
        "conversation": conversation.id,
        "subreddit": first.subreddit,
        "domain": None if conversation.domain is None else conversation.domain.name,
        "utterances": [ready.utterance.id for ready in path],
    }
    document = Document.of_turns(
        f"{conversation.id}/{path[-1].utterance.id}",
        [Turn(ready.text, speakers[ready.utterance.speaker], _iso(ready.utterance.time)) for ready in path],
        language=_LANGUAGE,
        date=_iso(conversation.time)[:10],
        meta={key: value for key, value in meta.items() if value is not None},
    )
    return _with_gold(document, gold)


def _with_gold(document: Document, gold: Sequence[Sequence[Annotation]]) -> Document:
    links, mentions = [], []
    for span, own in zip(document.turn_spans, gold, strict=True):
        for one in own:
            place = Span(span.start + one.span.start, span.start + one.span.end)
            surface = document.text[place.start : place.end]
            exact = surface.casefold() == one.entity.title.casefold()
            links.append(GoldLink(place, (one.entity.id,), meta={"by": one.by, **({"exact": True} if exact else {})}))
            mentions.append(Mention(place, surface))
    return msgspec.structs.replace(document, gold=tuple(links), mentions=tuple(mentions))


def _speakers(path: Sequence[Ready], anonymous: bool) -> dict[str, str]:
    """Names of speakers, or numbers in the order in which they speak."""
    names = dict.fromkeys(ready.utterance.speaker for ready in path)
    return {name: f"user {number}" if anonymous else name for number, name in enumerate(names, 1)}


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
