"""The domains of a set of conversations: which subreddits are about them, and which wikis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from entlink.errors import InputError


class Domain(msgspec.Struct, frozen=True):
    """A domain: subreddits whose name holds its title are about it.

    Links count if they lead to one of its `wikis`, or to any where none is named. `type` is the type that its
    entities have in the knowledge base; None where titles tell them apart by themselves.
    """

    title: str
    wikis: tuple[str, ...] = ()
    type: str | None = None

    def is_in(self, subreddit: str) -> bool:
        """Whether the name of a subreddit holds the title, whatever the case, blanks and signs of either."""
        return squashed(self.title) in squashed(subreddit)

    def has(self, wiki: str) -> bool:
        """Whether links to a wiki count."""
        return not self.wikis or wiki.lower() in (own.lower() for own in self.wikis)

    @property
    def name(self) -> str:
        """What its threads say they are of: its entities' type, by which studies tell domains apart, or its title."""
        return self.type or self.title


def squashed(name: str) -> str:
    """Its letters and digits."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def domain_of(subreddit: str | None, domains: Sequence[Domain]) -> Domain | None:
    """The domain that a subreddit is about: of several the one with the longest title, as the most certain."""
    if not subreddit:
        return None
    fitting = [domain for domain in domains if domain.is_in(subreddit)]
    return max(fitting, key=lambda domain: len(squashed(domain.title)), default=None)


def choose_subreddits(names: Iterable[str], domains: Sequence[Domain]) -> dict[str, Domain]:
    """Those of the subreddits that are about one of the domains, each with its domain."""
    found = ((name, domain_of(name, domains)) for name in names)
    return {name: domain for name, domain in found if domain is not None}


def check_domains(domains: Sequence[Domain]) -> None:
    """Raises InputError where a title means nothing or comes twice."""
    seen: set[str] = set()
    for domain in domains:
        key = squashed(domain.title)
        if not key:
            raise InputError(f"{domain.title!r} is no title of a domain: it needs a letter or a digit")
        if key in seen:
            raise InputError(f"the domain {domain.title!r} is given twice. Put all its wikis into one")
        seen.add(key)


def _zeshel(title: str, type: str, *wikis: str) -> Domain:
    return Domain(title, wikis, type)


# The sixteen worlds of ZESHEL: their titles, the types their entities have, and how Fandom has called their wikis.
ZESHEL_DOMAINS = (
    _zeshel("American Football", "american_football", "americanfootball"),
    _zeshel("Doctor Who", "doctor_who", "tardis"),
    _zeshel("Fallout", "fallout", "fallout"),
    _zeshel("Final Fantasy", "final_fantasy", "finalfantasy"),
    _zeshel("Military", "military", "military", "military-history"),
    _zeshel("Pro Wrestling", "pro_wrestling", "prowrestling"),
    _zeshel("StarWars", "starwars", "starwars"),
    _zeshel("World of Warcraft", "world_of_warcraft", "wowwiki", "wowwiki-archive"),
    _zeshel("Coronation Street", "coronation_street", "coronationstreet"),
    _zeshel("Muppets", "muppets", "muppet"),
    _zeshel("Ice Hockey", "ice_hockey", "icehockey"),
    _zeshel("Elder Scrolls", "elder_scrolls", "elderscrolls"),
    _zeshel("Forgotten Realms", "forgotten_realms", "forgottenrealms"),
    _zeshel("Lego", "lego", "lego", "brickipedia"),
    _zeshel("Star Trek", "star_trek", "memory-alpha"),
    _zeshel("YuGiOh", "yugioh", "yugioh"),
)
