"""What a set of conversations is made of: every bound of its making, with that of the published set as default."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from entlink.datasets.conversations.domains import Domain, check_domains
from entlink.datasets.wiki_urls import FANDOM_PATTERNS, WikiUrls
from entlink.errors import InputError, SourceError
from entlink.io.inputs import input_text
from entlink.io.ledger import OnError

BareUrls = Literal["name", "none"]
Characters = Literal["latin", "ascii", "any"]
Pruning = Literal["utterance", "thread"]
Scope = Literal["thread", "conversation", "speaker", "none"]
Titles = Literal["none", "meta", "text"]

# What users call a link when they do not name what it leads to; compared without case and signs.
NONSENSE = (
    *(
        "article",
        "click",
        "click here",
        "click me",
        "details",
        "edit",
        "example",
        "fandom",
        "fandom page",
        "from here",
    ),
    *("here", "heres a link", "i", "image", "imgur", "info", "it", "link", "link here", "linked", "links", "list"),
    *("more", "more here", "more info", "more information", "obligatory", "one", "page", "picture", "proof"),
    *("read more", "reference", "relevant", "relevant link", "relevant wiki", "right here", "see", "see here"),
    *("source", "sources", "spoiler", "spoilers", "that", "that one", "the article", "the link", "the page"),
    *("the wiki", "there", "these", "they", "this", "this article", "this guy", "this link", "this one"),
    *("this page", "this thing", "this wiki", "those", "url", "website", "wiki", "wiki article", "wiki entry"),
    *("wiki link", "wiki page", "wikia", "wikia article", "wikia link", "wikia page", "yes", "you"),
)
# Linked once, such a word may mean an entity; elsewhere it means whatever is spoken of there.
UNAUGMENTED = ("he", "her", "him", "his", "its", "she", "their", "them", "we", "who")
SIGNS = ".,;:!?'\"()-/&%$"


class ConversationOptions(msgspec.Struct, frozen=True):
    """How corpora become threads with gold.

    - `domains`: take only subreddits whose name holds one of their titles; without any, all
    - `patterns`: addresses of the wiki's pages (see `WikiUrls`); `languages`: of pages that count, where it is named
    - `signs`: other characters that stay; `profanity`: words and phrases that prune an utterance
    - `nonsense`: mentions that name nothing; `unaugmented`: mentions that are not looked for elsewhere
    - `anonymous`: speakers by number instead of by name
    """

    domains: tuple[Domain, ...] = ()
    patterns: tuple[str, ...] = FANDOM_PATTERNS
    languages: tuple[str, ...] = ("en",)
    bare_urls: Annotated[
        BareUrls,
        Meta(
            description="an address without a label marks the name of its page in the same utterance (default), "
            "or nothing"
        ),
    ] = "name"
    characters: Annotated[
        Characters,
        Meta(description="letters that stay: of the Latin script (default), of ASCII, or of any script"),
    ] = "latin"
    signs: str = SIGNS
    max_repeats: Annotated[int, Meta(ge=1, description="what is said more often on end is nonsense")] = 3
    profanity: tuple[str, ...] = ()
    min_tokens: Annotated[int, Meta(ge=0, description="words of an utterance")] = 5
    max_tokens: Annotated[int, Meta(ge=1, description="words of an utterance")] = 70
    max_characters: Annotated[int, Meta(ge=1, description="longer utterances are not read")] = 20_000
    pruned: Annotated[
        Pruning,
        Meta(description="what goes with a pruned utterance: it alone (default), or every thread that it is part of"),
    ] = "utterance"
    nonsense: tuple[str, ...] = NONSENSE
    augment: Annotated[
        Scope,
        Meta(
            description="where unlinked occurrences of a linked text become gold: in its thread (default), in its "
            "conversation, in what its speaker says there, or nowhere"
        ),
    ] = "thread"
    unaugmented: tuple[str, ...] = UNAUGMENTED
    titles: Annotated[
        Titles,
        Meta(
            description="titles of posts: left out (default), kept as `title` in the meta of threads, or put before "
            "the texts of posts, where they are cleaned and their names become gold, too"
        ),
    ] = "none"
    min_utterances: Annotated[int, Meta(ge=1, description="of a thread")] = 5
    min_annotations: Annotated[int, Meta(ge=1, description="of a thread")] = 1
    exact_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="threads with a mention that is its entity's title are this share of all at most",
        ),
    ] = 0.05
    split_date: str = "2015-01-01"
    test_limit: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="test on the N densest threads only (default: on all)")
    ] = None
    anonymous: bool = True
    seed: Annotated[int, Meta(description="what chance depends on")] = 0
    on_error: Annotated[
        OnError, Meta(description="at a bad record: stop (default), or leave it out and report it")
    ] = "stop"


def check_options(options: ConversationOptions) -> None:
    """Raises InputError where options do not fit each other or mean nothing."""
    WikiUrls(options.patterns)
    check_domains(options.domains)
    _check_fields(options)
    if options.min_tokens > options.max_tokens:
        raise InputError(
            f"min_tokens is {options.min_tokens} and max_tokens {options.max_tokens}: no utterance would be left"
        )
    last_second(options.split_date)


def _check_fields(options: ConversationOptions) -> None:
    """Every field against its type and range."""
    try:
        msgspec.convert(msgspec.structs.asdict(options), ConversationOptions)
    except msgspec.ValidationError as problem:
        wrong, _, place = str(problem).partition(" - at `$.")
        name = place.rstrip("`").partition("[")[0]
        choices = ", ".join(map(str, get_args(get_type_hints(ConversationOptions)[name])))
        wanted = f"choose among {choices}" if "enum" in wrong else wrong[0].lower() + wrong[1:]
        raise InputError(f"{name} is {getattr(options, name)!r}: {wanted}") from None


def last_second(day: str) -> int:
    """The last second of a day, in UTC, since 1970."""
    try:
        begins = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise InputError(f"split_date is {day!r}: it must be a day, such as 2015-01-01") from None
    return int(begins.timestamp()) + 24 * 60 * 60 - 1


def read_word_list(path: str | Path) -> tuple[str, ...]:
    """The entries of a file in UTF-8, in order and each once; blank lines are left out."""
    words = tuple(dict.fromkeys(line.strip() for line in input_text(path).splitlines() if line.strip()))
    if not words:
        raise SourceError("there is no entry in it", str(path), hint="Write one word or phrase a line")
    return words
