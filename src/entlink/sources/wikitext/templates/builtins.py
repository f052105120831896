"""The builtins a rule of expansion can name: what cannot be said as a text with slots."""

from __future__ import annotations

import re
from collections.abc import Mapping

from entlink.sources.wikitext.templates.arguments import Arguments
from entlink.sources.wikitext.templates.convert import convert
from entlink.sources.wikitext.templates.countries import COUNTRIES, country_link
from entlink.sources.wikitext.templates.dates import as_of, date, day_first_date
from entlink.sources.wikitext.templates.rule import Rule

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,10})?", re.ASCII)
NUMBER = re.compile(r"([-−]?)([0-9]+)(?:\.([0-9]+))?", re.ASCII)
SEPARATORS = {  # of thousands and of decimals, where they are not the English ones
    **dict.fromkeys(("de", "es", "it", "nl", "pt", "tr", "id"), (".", ",")),
    **dict.fromkeys(("fr", "ru", "bg", "uk", "pl", "cs", "sv", "no", "fi"), (" ", ",")),
}
MOST_PICTURES = 30
PICTURE_PREFIX = re.compile(r"\A(?:file|image)\s*:\s*", re.IGNORECASE)


def bullets(arguments: Arguments) -> str | None:
    """The items, each a line of a list; an argument that is a list already is left as it is."""
    lines = [item if item.startswith("*") else f"* {' '.join(item.split())}" for item in arguments.items()]
    return "\n{}\n".format("\n".join(lines)) if lines else None


def number(arguments: Arguments) -> str | None:
    """A number with the separators of the language; without them where the second argument is R."""
    written = arguments.get("1")
    if arguments.get("2").upper() == "R":
        return written.replace(",", "") or None
    found = NUMBER.fullmatch(written)
    if not found:
        return written or None
    thousands, decimal = SEPARATORS.get(arguments.language or "", (",", "."))
    grouped = _grouped(found[2], thousands)
    return f"{found[1]}{grouped}{decimal}{found[3]}" if found[3] else f"{found[1]}{grouped}"


def _grouped(digits: str, separator: str) -> str:
    first = len(digits) % 3
    groups = [digits[:first]] if first else []
    return separator.join(groups + [digits[at : at + 3] for at in range(first, len(digits), 3)])


def value(arguments: Arguments) -> str | None:
    """A measured value: number, its uncertainty, power of ten and unit."""
    shown, spread = arguments.get("1"), arguments.get("2")
    if not shown:
        return None
    if spread:
        shown += spread if spread.startswith("(") else f"±{spread}"
    if power := arguments.get("e", "10"):
        shown += f"×10<sup>{power}</sup>"
    unit = arguments.get("u", "ul", "up", "upl")
    return f"{arguments.get('p')}{shown}{arguments.get('s')}{' ' * bool(unit)}{unit}"


def ship(arguments: Arguments) -> str | None:
    """A link to a ship by prefix, name and number: `[[USS Enterprise (CVN-65)|USS Enterprise]]`."""
    prefix, name, id, form, *_ = (*arguments.places(), "", "", "", "")
    return _ship(prefix, name, id, arguments.get("up") or form)


def ship_of_prefix(arguments: Arguments) -> str | None:
    """The same where the template is called as the prefix is."""
    name, id, form, *_ = (*arguments.places(), "", "", "")
    return _ship(arguments.name, name, id, form)


def _ship(prefix: str, name: str, id: str, form: str) -> str | None:
    if not name:
        return None
    called = f"{prefix} {name}".strip()
    title = f"{called} ({id})" if id else called
    shown = {"1": id or called, "3": f"{name} ({id})" if id else name, "6": name}.get(form, called)
    return f"[[{title}]]" if shown == title else f"[[{title}|{shown}]]"


def flag(arguments: Arguments) -> str | None:
    """A link to the country that is named by title or code."""
    named = arguments.get("1")
    if not named:
        return None
    if shown := arguments.get("name"):
        return f"[[{COUNTRIES.get(named, named)}|{shown}]]"
    return country_link(named)


def country(arguments: Arguments) -> str | None:
    """A link to the country whose code is the template's name."""
    return country_link(arguments.name) if arguments.name in COUNTRIES else None


def sorted_name(arguments: Arguments) -> str | None:
    """A person by first and last name, linked but for `nolink=1`."""
    shown = " ".join(part for part in (arguments.get("1"), arguments.get("2")) if part)
    if not shown or arguments.flag("nolink"):
        return shown or None
    apart = arguments.get("dab")
    title = arguments.get("3", "link") or (f"{shown} ({apart})" if apart else shown)
    return f"[[{title}]]" if title == shown else f"[[{title}|{shown}]]"


def foreign_link(arguments: Arguments) -> str | None:
    """A link to an article that only another wiki has; its title here comes first, once it came second."""
    first, second, third, fourth, *_ = (*arguments.places(), "", "", "", "")
    if LANGUAGE_CODE.fullmatch(first) and not LANGUAGE_CODE.fullmatch(second):
        title, shown = third or second, fourth
    else:
        title, shown = first, ""
    shown = arguments.get("lt") or shown
    if not title:
        return None
    return f"[[{title}|{shown}]]" if shown else f"[[{title}]]"


def pictures(arguments: Arguments) -> str | None:
    """The numbered pictures with their captions."""
    found = [
        _picture(image, arguments.get(f"caption{place}"))
        for place in range(1, MOST_PICTURES + 1)
        if (image := arguments.get(f"image{place}"))
    ]
    return "\n".join(found) or None


def gallery(arguments: Arguments) -> str | None:
    """Pictures and captions in turns."""
    places = arguments.places()
    captions = [*places[1::2], ""]
    found = [_picture(image, caption) for image, caption in zip(places[::2], captions, strict=False) if image]
    return "\n".join(found) or None


def _picture(image: str, caption: str) -> str:
    return f"[[File:{PICTURE_PREFIX.sub('', image, count=1)}|thumb|{caption}]]"


def lower(arguments: Arguments) -> str | None:
    """In small letters."""
    return arguments.get("1").lower() or None


def upper(arguments: Arguments) -> str | None:
    """In capital letters."""
    return arguments.get("1").upper() or None


def lower_first(arguments: Arguments) -> str | None:
    """With a small first letter."""
    text = arguments.get("1")
    return text[:1].lower() + text[1:] or None


def upper_first(arguments: Arguments) -> str | None:
    """With a capital first letter."""
    text = arguments.get("1")
    return text[:1].upper() + text[1:] or None


def if_given(arguments: Arguments) -> str | None:
    """The second where the first is not blank, otherwise the third."""
    return arguments.get("2" if arguments.get("1") else "3") or None


def if_equal(arguments: Arguments) -> str | None:
    """The third where the first two are the same, otherwise the fourth."""
    return arguments.get("3" if arguments.get("1") == arguments.get("2") else "4") or None


BUILTINS: Mapping[str, Rule] = {
    "as-of": as_of,
    "convert": convert,
    "country": country,
    "date": date,
    "day-first-date": day_first_date,
    "flag": flag,
    "foreign-link": foreign_link,
    "gallery": gallery,
    "if": if_given,
    "if-equal": if_equal,
    "list": bullets,
    "lower": lower,
    "lower-first": lower_first,
    "number": number,
    "pictures": pictures,
    "ship": ship,
    "ship-of-prefix": ship_of_prefix,
    "sorted-name": sorted_name,
    "upper": upper,
    "upper-first": upper_first,
    "value": value,
}
