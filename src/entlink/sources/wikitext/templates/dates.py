"""Dates as the templates of dates show them, in the manner of each language."""

from __future__ import annotations

import re

from entlink.documents import Record
from entlink.sources.wikitext.templates.arguments import Arguments

ENGLISH = "en"
ISO = re.compile(r"(-?[0-9]{1,6})-([0-9]{1,2})(?:-([0-9]{1,2}))?", re.ASCII)
SMALL_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
BEFORE_CHRIST = re.compile(r"[-−]0*([1-9][0-9]{0,5})", re.ASCII)


class Calendar(Record, frozen=True):
    """How a language writes dates: `{d}`, `{m}` and `{y}` stand for day, month and year."""

    months: tuple[str, ...]
    full: str = "{d} {m} {y}"
    month_year: str = "{m} {y}"
    day_month: str = "{d} {m}"
    months_alone: tuple[str, ...] = ()  # where a month without a day is in another case


def _months(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_ENGLISH_MONTHS = _months("January February March April May June July August September October November December")
_EAST_ASIAN = Calendar(_months("1 2 3 4 5 6 7 8 9 10 11 12"), "{y}年{m}月{d}日", "{y}年{m}月", "{m}月{d}日")
MONTH_FIRST = Calendar(_ENGLISH_MONTHS, "{m} {d}, {y}", "{m} {y}", "{m} {d}")
CALENDARS = {
    ENGLISH: Calendar(_ENGLISH_MONTHS),
    "de": Calendar(
        _months("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
        full="{d}. {m} {y}",
        day_month="{d}. {m}",
    ),
    "fr": Calendar(_months("janvier février mars avril mai juin juillet août septembre octobre novembre décembre")),
    "es": Calendar(
        _months("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
        full="{d} de {m} de {y}",
        month_year="{m} de {y}",
        day_month="{d} de {m}",
    ),
    "ru": Calendar(
        _months("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
        months_alone=_months("январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь"),
    ),
    "bg": Calendar(_months("януари февруари март април май юни юли август септември октомври ноември декември")),
    "zh": _EAST_ASIAN,
    "ja": _EAST_ASIAN,
}


def date(arguments: Arguments) -> str | None:
    """Year, month and day, of which the last may be missing; in English the month comes first but for `df=yes`."""
    calendar = _calendar(arguments, day_first=arguments.flag("df"))
    first = arguments.get("1", "year")
    if iso := ISO.fullmatch(first):
        return write_date(iso[1], iso[2], iso[3] or "", calendar)
    return write_date(first, arguments.get("2", "month"), arguments.get("3", "day"), calendar)


def day_first_date(arguments: Arguments) -> str | None:
    """Day, month and year, as the templates of most languages of Europe take them; or the year alone."""
    calendar = _calendar(arguments, day_first=True)
    places = arguments.items()[:3]
    if places and (iso := ISO.fullmatch(places[0])):
        return write_date(iso[1], iso[2], iso[3] or "", calendar)
    if len(places) == 1:
        return write_date(places[0], "", "", calendar)
    if len(places) == 2 and not SMALL_NUMBER.fullmatch(places[0]):  # a month by name, and a year
        return write_date(places[1], places[0], "", calendar)
    day, month, year = (*places, "", "", "")[:3]
    return write_date(year, month, day, calendar)


def as_of(arguments: Arguments) -> str | None:
    """`As of 20 June 2011`, or what the author wants to be shown instead."""
    if shown := arguments.get("alt"):
        return shown
    day_first = arguments.get("df").upper() != "US"
    calendar = _calendar(arguments, day_first)
    when = write_date(arguments.get("1"), arguments.get("2"), arguments.get("3"), calendar)
    if when is None or arguments.flag("bare"):
        return when
    words = "Since" if arguments.flag("since") else "As of"
    return f"{words.lower() if arguments.flag('lc') else words} {when}"


def write_date(year: str, month: str, day: str, calendar: Calendar) -> str | None:
    """A date of which parts may be missing; a month is a number or a name. None where there is nothing."""
    alone = calendar.months_alone if calendar.months_alone and not day else calendar.months
    parts = {"y": _year(year), "m": _month(month, alone), "d": _plain(day)}
    if not month:
        return parts["y"] or None
    return _form(calendar, has_year=bool(year), has_day=bool(day)).format(**parts)


def _form(calendar: Calendar, *, has_year: bool, has_day: bool) -> str:
    if has_day:
        return calendar.full if has_year else calendar.day_month
    return calendar.month_year if has_year else "{m}"


def _calendar(arguments: Arguments, day_first: bool) -> Calendar:
    language = arguments.get("language") or arguments.language or ENGLISH
    if not day_first and language not in CALENDARS.keys() - {ENGLISH}:
        return MONTH_FIRST
    return CALENDARS.get(language, CALENDARS[ENGLISH])


def _year(written: str) -> str:
    before = BEFORE_CHRIST.fullmatch(written)
    return f"{before[1]} BC" if before else _plain(written)


def _month(written: str, names: tuple[str, ...]) -> str:
    if SMALL_NUMBER.fullmatch(written) and 1 <= int(written) <= len(names):
        return names[int(written) - 1]
    return written


def _plain(written: str) -> str:
    return str(int(written)) if SMALL_NUMBER.fullmatch(written) else written
