"""What a set of captions was made from and what is in it: the card that is beside it."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from entlink.datasets.captions.options import CaptionOptions
from entlink.datasets.captions.statistics import CaptionStatistics
from entlink.datasets.hyperlinks.report import KnowledgeBaseCard
from entlink.kb.store.manifest import SourceCard


class CaptionFile(msgspec.Struct):
    """One file of the set."""

    name: str
    bytes: int
    sha256: str
    statistics: CaptionStatistics


class CaptionsReport(msgspec.Struct):
    """The record a set of captions leaves beside itself.

    - `pictures`: the folder or tar they are from, empty where none was given; `encoder` compared them
    - `captions`: what became of the captions that were read; `mentions`: mentions that were left out, by reason
    - `named`: the first pictures that took their captions out
    - `total`: the statistics of all files together
    """

    entlink: str
    built: str
    command: str
    options: dict[str, Any]
    kb: KnowledgeBaseCard
    sources: list[SourceCard]
    pictures: str
    encoder: str
    captions: dict[str, int]
    mentions: dict[str, int]
    named: list[str]
    files: list[CaptionFile]
    total: CaptionStatistics
    problems: list[str] = []

    def file(self, name: str) -> CaptionFile:
        return next(file for file in self.files if file.name == name)


def shown_options(options: CaptionOptions) -> dict[str, Any]:
    """The options that the result depends on; of the list of profanity its size and checksum."""
    shown = msgspec.structs.asdict(options)
    del shown["processes"]
    # A record leaves out what is as by default when it is written, and the next release may have other defaults.
    shown["wiki"] = msgspec.structs.asdict(options.wiki)
    listed = "\n".join(options.profanity)
    shown["profanity"] = {
        "entries": len(options.profanity),
        "sha256": hashlib.sha256(listed.encode()).hexdigest() if options.profanity else None,
    }
    written: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(shown))
    return written
