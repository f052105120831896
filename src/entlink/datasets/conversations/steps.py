"""The steps of a set of conversations: corpora to a store, conversations to threads, those to the set's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from entlink.datasets.conversations.datasheet import datasheet
from entlink.datasets.conversations.domains import Domain, domain_of
from entlink.datasets.conversations.mentions import Marker
from entlink.datasets.conversations.options import ConversationOptions, last_second
from entlink.datasets.conversations.pruning import Preparer, is_deleted, profanity_pattern
from entlink.datasets.conversations.report import ConversationsReport, CorpusCard, ThreadFile, told_options
from entlink.datasets.conversations.split import cap_exact, split
from entlink.datasets.conversations.staging import CROSSING, TEST, TRAIN, Staged, Staging
from entlink.datasets.conversations.statistics import StatisticsTally
from entlink.datasets.conversations.threads import Conversation, ThreadMaker, with_title
from entlink.datasets.folder_target import CARD, DATASHEET
from entlink.datasets.hyperlinks.report import KnowledgeBaseCard
from entlink.datasets.wiki_titles import WikiTitles
from entlink.documents import Document
from entlink.errors import InputError, SourceError
from entlink.io.checksums import checksum
from entlink.io.ledger import Ledger
from entlink.io.progress import Progress
from entlink.kb.store.store import Store
from entlink.sources.convokit import Corpus, Utterance
from entlink.text.dates import now
from entlink.version import __version__

# The files, the splits they are of, and the places whose threads they hold.
_FILES = (
    ("train.jsonl", "published", (TRAIN, CROSSING)),
    ("test.jsonl", "published, apart", (TEST,)),
    ("train.apart.jsonl", "apart", (TRAIN,)),
)
_EVERY = 1024  # records between two reports of progress
_KEPT_EVERY = 1000  # conversations
_READING, _THREADS = "reading", "threads"
_SKIP = "--on-error skip leaves them out"


class _Told(msgspec.Struct):
    """What was counted up to a step that is kept."""

    cards: list[CorpusCard]
    counts: list[dict[str, int]]
    skipped: int
    problems: list[str]


class ConversationBuilder:
    """Makes one set; each step is run once, in order."""

    def __init__(
        self,
        corpora: Sequence[Corpus],
        staging: Staging,
        store: Store,
        options: ConversationOptions,
        progress: Progress,
    ) -> None:
        self._corpora, self._staging, self._options, self._progress = corpora, staging, options, progress
        self._marker = Marker(WikiTitles(store), options)
        self._preparer = Preparer(self._marker, options)
        self._maker = ThreadMaker(self._preparer, options)
        self._ledger = Ledger(options.on_error)
        self._faults: Counter[str] = Counter()
        self._cards: list[CorpusCard] = []
        self._profanity = profanity_pattern(options.profanity)

    def build(self, folder: Path, card: KnowledgeBaseCard, command: str) -> ConversationsReport:
        """Write the set's files into a folder; returns its card."""
        self._read_all()
        self._make_threads()
        files = self._write_files(folder)
        report = self._report(files, card, command)
        (folder / DATASHEET).write_text(datasheet(report, self._options), encoding="utf8")
        (folder / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        return report

    # Corpora

    def _read_all(self) -> None:
        total = sum(corpus.size for corpus in self._corpora)
        before = 0
        done = self._take_up(_READING)
        for number, corpus in enumerate(self._corpora):
            if number >= done:
                self._read(corpus, number, before, total)
                self._keep(_READING, number + 1)
            before += corpus.size
        if not any(card.taken for card in self._cards):
            raise self._nothing_taken()

    def _read(self, corpus: Corpus, number: int, before: int, total: int) -> None:
        domain = domain_of(corpus.subreddit, self._options.domains)
        if self._options.domains and corpus.subreddit is not None and domain is None:
            return  # it says itself that it is about something else
        title = None if domain is None else domain.title
        card = CorpusCard(corpus.name, corpus.subreddit, title, corpus.size, checksum(corpus.path))
        self._cards.append(card)
        reading = corpus.reading(self._options.on_error)
        if self._options.titles != "none":
            self._staging.add_titles(corpus.titles(reading))
        for utterance in corpus.utterances(reading):
            if reading.records % _EVERY == 0:
                self._progress("reading", before + reading.meter.consumed, total)
            if self._options.domains and domain_of(utterance.subreddit, self._options.domains) is None:
                continue
            card.taken += self._add(utterance, corpus, number, reading)
        if not reading.records and not reading.skipped:
            reading.fail(SourceError("there is no utterance in it", str(corpus.path), hint="Fetch the corpus again"))
        card.utterances, card.skipped = reading.records, reading.skipped
        self._ledger.absorb(reading)

    def _add(self, utterance: Utterance, corpus: Corpus, number: int, ledger: Ledger) -> bool:
        is_linked = self._marker.addresses.may_be_in(utterance.text)
        is_new = self._staging.add(utterance, number, is_linked=is_linked)
        if not is_new:
            problem = f"the id {utterance.id!r} came before"
            hint = "Is a corpus given twice? --on-error skip takes the first"
            ledger.fail(SourceError(problem, str(corpus.path), corpus.where(utterance.number), hint))
        return is_new

    def _nothing_taken(self) -> InputError:
        names = ", ".join(repr(domain.title) for domain in self._options.domains)
        told = sorted({corpus.subreddit for corpus in self._corpora if corpus.subreddit})[:5]
        if names and told:
            return InputError(f"no subreddit given ({', '.join(told)}) has a domain's title in its name: {names}")
        return InputError("no utterance could be taken from the corpora. Look at what was skipped, or at --domain")

    # Threads

    def _make_threads(self) -> None:
        done = self._take_up(_THREADS)
        with self._staging.writing_threads(self._options.seed) as threads:
            for number, documents in enumerate(self._threads(done), done + 1):
                for document, time in documents:
                    threads.add(document, time)
                if number % _KEPT_EVERY == 0:
                    threads.flush()
                    self._keep(_THREADS, number)
            count = threads.number
        if not count:
            links = {name: number for name, number in self._marker.counts.items() if number}
            raise InputError(
                f"no thread is left: of users' links there were {links or 'none'}, of utterances pruned "
                f"{dict(self._preparer.pruned) or 'none'}. Check --kb, --url-pattern and the bounds"
            )

    def _threads(self, done: int) -> Iterator[list[tuple[Document, int]]]:
        """The threads of each conversation, each with its time, but for those that were done before."""
        total = self._staging.count()[1]
        for number, staged in enumerate(self._staging.conversations(done), done):
            self._progress("threads", number, total)
            conversation = Conversation(staged.id, self._titled(staged), self._domain(staged))
            self._tell_faults(conversation, staged)
            threads = self._maker.threads(conversation)
            if self._options.titles == "meta" and staged.title and not self._is_profane(staged.title):
                threads = (with_title(document, staged.title) for document in threads)
            yield [(document, conversation.time) for document in threads]

    def _titled(self, staged: Staged) -> list[Utterance]:
        """The utterances, the title before the text of the post if that is wanted; one that was deleted stays so."""
        if self._options.titles != "text" or not staged.title:
            return staged.utterances
        return [
            msgspec.structs.replace(one, text=f"{staged.title}\n\n{one.text}".strip())
            if one.parent is None and not (one.text and is_deleted(one.text))
            else one
            for one in staged.utterances
        ]

    def _is_profane(self, title: str) -> bool:
        return self._profanity is not None and self._profanity.search(title) is not None

    # What was done before

    @property
    def _counts(self) -> list[Counter[str]]:
        return [self._faults, self._marker.counts, self._preparer.pruned, self._maker.counts]

    def _keep(self, step: str, done: int) -> None:
        told = _Told(self._cards, [dict(each) for each in self._counts], self._ledger.skipped, self._ledger.problems)
        self._staging.keep(step, done, msgspec.json.encode(told))

    def _take_up(self, step: str) -> int:
        """How far a killed build was with a step, with what it had counted."""
        done, kept = self._staging.done(step)
        if done:
            told = msgspec.json.decode(kept, type=_Told)
            self._cards, self._ledger.skipped, self._ledger.problems = told.cards, told.skipped, told.problems
            for counter, counts in zip(self._counts, told.counts, strict=True):
                counter.clear()
                counter.update(counts)
        return done

    def _domain(self, staged: Staged) -> Domain | None:
        return domain_of(staged.utterances[0].subreddit, self._options.domains)

    def _tell_faults(self, conversation: Conversation, staged: Staged) -> None:
        for fault in conversation.faults():
            self._faults[fault.kind] += fault.lost
            corpus = self._corpora[staged.corpora[fault.id]]
            where = corpus.where(conversation.utterances[fault.id].number)
            self._ledger.fail(SourceError(fault.told, str(corpus.path), where, f"{fault.hint}. {_SKIP}"))

    # Files

    def _write_files(self, folder: Path) -> list[ThreadFile]:
        connection = self._staging.connection
        self._maker.counts["dropped as trivial"] += cap_exact(connection, self._options.exact_share)
        split(connection, last_second(self._options.split_date), self._options.test_limit)
        tallies = [StatisticsTally() for _ in _FILES]
        with ExitStack() as stack:
            files = [stack.enter_context((folder / name).open("wb")) for name, _, _ in _FILES]
            for number, (place, line) in enumerate(self._staging.lines()):
                if number % _EVERY == 0:
                    self._progress("writing", number, 0)
                for file, tally, (_, _, places) in zip(files, tallies, _FILES, strict=True):
                    if place in places:
                        file.write(line)
                        tally.add(line)
        return [
            ThreadFile(name, kind, (folder / name).stat().st_size, checksum(folder / name), tally.statistics())
            for tally, (name, kind, _) in zip(tallies, _FILES, strict=True)
        ]

    def _report(self, files: list[ThreadFile], card: KnowledgeBaseCard, command: str) -> ConversationsReport:
        conversations, linked = self._staging.count()
        return ConversationsReport(
            entlink=__version__,
            built=now(),
            command=command,
            options=told_options(self._options),
            kb=card,
            corpora=self._cards,
            other_corpora=len(self._corpora) - len(self._cards),
            conversations=conversations,
            linked=linked,
            pruned=_sorted(self._preparer.pruned),
            links=_sorted(self._marker.counts),
            threads=_sorted(self._maker.counts),
            faults=_sorted(self._faults),
            files=files,
            problems=self._ledger.problems,
        )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
