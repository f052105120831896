"""The template `{{convert}}`: a measure in the unit it was given in and in others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from entlink.documents import Record
from entlink.sources.wikitext.templates.arguments import Arguments
from entlink.sources.wikitext.templates.quantity import (
    Quantity,
    default_places,
    read_quantity,
    rounded,
    significant_places,
    whole,
    write_number,
)
from entlink.sources.wikitext.templates.units import DIVISIONS, Unit, find_unit, is_temperature

RANGES = {
    "to": " to ",
    "-": "–",
    "–": "–",
    "&ndash;": "–",
    "and": " and ",
    "or": " or ",
    "by": " by ",
    "x": " × ",
    "×": " × ",
    "xx": " × ",
    "+/-": " ± ",
    "±": " ± ",
    "to(-)": " to ",
    "and(-)": " and ",
    "to about": " to about ",
}
WRITTEN_RANGE = re.compile(r"([0-9.,/]{1,30})\s*[-–]\s*([0-9.,/]{1,30})", re.ASCII)
DISPLAYS = {
    "or": "{0} or {1}",
    "comma": "{0}, {1}",
    "sqbr": "{0} [{1}]",
    "semi": "{0}; {1}",
    "slash": "{0} / {1}",
    "output only": "{1}",
    "out": "{1}",
}
BRACKETS = "{0} ({1})"
NUMBER_ONLY = frozenset({"output number only", "number"})
TALLEST = 3  # metres: what is less is given in feet and inches, as a person's height is
SMALL_DIVISION = "in"
CENTIMETRE = Fraction(1, 100)
TO_THE_UNIT = frozenset({"ft", "lb"})  # what whole metres and kilograms are exact to
AMERICAN = (("metre", "meter"), ("litre", "liter"), ("kilotonne", "kiloton"), ("tonne", "metric ton"))


class Measure(Record, frozen=True):
    """What the template was asked for: values with the words between them, in a unit or in two side by side."""

    quantities: tuple[Quantity, ...]
    words: tuple[str, ...]
    unit: Unit
    rest: tuple[str, ...]
    smaller: tuple[Quantity, Unit] | None = None

    @property
    def total(self) -> Fraction:
        """The value in the unit's base where it is one in two units."""
        base = self.unit.to_base(self.quantities[0].value)
        return base + self.smaller[1].to_base(self.smaller[0].value) if self.smaller else base

    def bases(self) -> list[Fraction]:
        """The values in the unit's base."""
        if self.smaller:
            return [self.total]
        return [self.unit.to_base(quantity.value) for quantity in self.quantities]


class Style(Record, frozen=True):
    """How units and numbers are written."""

    symbols_in: bool
    symbols_out: bool
    adjective: bool
    american: bool
    grouped: bool

    def unit(self, unit: Unit, *, symbol: bool, one: bool, adjective: bool = False) -> str:
        """A unit with what stands between it and its number."""
        written = unit.written(symbol=symbol, one=one or adjective)
        if self.american and not (symbol and unit.symbol):
            for british, american in AMERICAN:
                written = written.replace(british, american)
        if written.startswith("/"):
            return written
        hyphen = adjective and not (symbol and unit.symbol)
        return f"-{written.replace(' ', '-')}" if hyphen else f" {written}"


def convert(arguments: Arguments) -> str | None:
    """A measure as the template shows it; with a unit that is not known just the number and unit as written."""
    places = _with_ranges_apart(arguments.places())
    measure = _read(places)
    if measure is None:
        return _as_written(places)
    codes, precision, extra = _wishes(measure)
    style = _style(arguments)
    shown_in = _input(measure, style, arguments, extra)
    outputs = [_output(measure, code, precision, arguments, style) for code in codes]
    display = arguments.get("disp").lower()
    written = [numbers if display in NUMBER_ONLY else numbers + unit for numbers, unit in filter(None, outputs)]
    return _together(shown_in, "; ".join(written), display, arguments) if written else shown_in


def _together(shown_in: str, shown_out: str, display: str, arguments: Arguments) -> str:
    if display in NUMBER_ONLY:
        return shown_out
    if display == "flip" or arguments.get("order") in {"flip", "out"}:
        shown_in, shown_out = shown_out, shown_in
    return DISPLAYS.get(display, BRACKETS).format(shown_in, shown_out)


def _with_ranges_apart(places: list[str]) -> list[str]:
    found = WRITTEN_RANGE.fullmatch(places[0]) if places else None
    return [found[1], "-", found[2], *places[1:]] if found else places


def _as_written(places: Sequence[str]) -> str | None:
    """The numbers and what follows them."""
    shown: list[str] = []
    for place in places:
        shown.append(RANGES.get(place, place).strip())
        if len(shown) > 1 and place not in RANGES and read_quantity(place) is None:
            break
    return " ".join(filter(None, shown)) or None


def _read(places: Sequence[str]) -> Measure | None:
    first = read_quantity(places[0]) if places else None
    if first is None:
        return None
    quantities, words, at = [first], [], 1
    while at + 1 < len(places) and places[at] in RANGES and (following := read_quantity(places[at + 1])):
        words.append(RANGES[places[at]])
        quantities.append(following)
        at += 2
    unit = find_unit(places[at]) if at < len(places) else None
    if unit is None:
        return None
    rest = tuple(places[at + 1 :])
    if smaller := _smaller(unit, rest):
        return Measure((first,), (), unit, rest[2:], smaller)
    return Measure(tuple(quantities), tuple(words), unit, rest)


def _smaller(unit: Unit, rest: Sequence[str]) -> tuple[Quantity, Unit] | None:
    """The second part of `6|ft|2|in`; a number that no unit follows is the precision."""
    if len(rest) < 2:
        return None
    quantity, smaller = read_quantity(rest[0]), find_unit(rest[1])
    if quantity is None or smaller is None or (unit.code, smaller.code) not in DIVISIONS.values():
        return None
    return quantity, smaller


def _wishes(measure: Measure) -> tuple[list[str], int | None, str]:
    """The units to convert to, the decimals, and what is to stand beside the unit."""
    rest = list(measure.rest)
    codes: list[str] = []
    if rest and whole(rest[0]) is None:
        codes = rest.pop(0).replace("+", " ").split()
    precision = whole(rest.pop(0)) if rest and whole(rest[0]) is not None else None
    return codes or _default_outputs(measure), precision, rest[0] if rest else ""


def _default_outputs(measure: Measure) -> list[str]:
    if measure.smaller:
        return (measure.smaller[1].outputs if measure.unit.kind != "length" else measure.unit.outputs).split()
    if measure.unit.code == "m" and 0 < measure.quantities[0].value < TALLEST:
        return ["ftin"]
    return measure.unit.outputs.split()


def _style(arguments: Arguments) -> Style:
    abbreviated = arguments.get("abbr").lower() or "out"
    adjective = arguments.get("adj").lower() in {"on", "mid"} or arguments.get("sing").lower() == "on"
    inside, outside = {"on": (True, True), "off": (False, False), "none": (False, False), "in": (True, False)}.get(
        abbreviated, (False, True)
    )
    if arguments.get("disp") == "flip" or arguments.get("order") == "flip":
        inside, outside = outside, inside
    american = arguments.get("sp").lower() == "us"
    return Style(inside, outside, adjective, american, arguments.get("comma").lower() != "off")


def _input(measure: Measure, style: Style, arguments: Arguments, extra: str) -> str:
    numbers = measure.quantities[0].shown
    for word, quantity in zip(measure.words, measure.quantities[1:], strict=True):
        numbers += word + quantity.shown
    if not style.grouped:
        numbers = numbers.replace(",", "")
    one = measure.quantities[-1].singular and not measure.words
    unit = style.unit(measure.unit, symbol=style.symbols_in, one=one, adjective=style.adjective)
    if measure.smaller:
        quantity, smaller = measure.smaller
        unit += f" {quantity.shown}" + style.unit(
            smaller, symbol=style.symbols_in, one=quantity.singular, adjective=style.adjective
        )
    if extra and arguments.get("adj") == "pre":
        return f"{numbers} {extra}{unit}"
    if extra and arguments.get("adj") == "mid":
        return f"{numbers}{unit}{extra if extra.startswith('-') else ' ' + extra}"
    return numbers + unit


def _output(
    measure: Measure, code: str, precision: int | None, arguments: Arguments, style: Style
) -> tuple[str, str] | None:
    """The numbers and the unit of one conversion; None where the unit is not known or measures something else."""
    if code in DIVISIONS:
        return _divided(measure, DIVISIONS[code], precision, style)
    unit = find_unit(code)
    if unit is None or unit.kind != measure.unit.kind:
        return None
    results = [unit.of_base(base) for base in measure.bases()]
    places = _places(measure, unit, results, precision, arguments)
    nearest = read_quantity(arguments.get("round"))
    if nearest and nearest.value > 0:
        results = [rounded(result / nearest.value, 0) * nearest.value for result in results]
        places = [max(0, int(nearest.places))] * len(results)
    numbers = [
        write_number(result, place, grouped=style.grouped) for result, place in zip(results, places, strict=True)
    ]
    shown = "".join(word + number for word, number in zip(("", *measure.words), numbers, strict=True))
    return shown, style.unit(unit, symbol=style.symbols_out, one=numbers == ["1"])


def _places(
    measure: Measure, unit: Unit, results: list[Fraction], precision: int | None, arguments: Arguments
) -> list[int]:
    if precision is not None:
        return [precision] * len(results)
    digits = whole(arguments.get("sigfig"))
    if digits and digits > 0:
        return [significant_places(result, digits) for result in results]
    places = [
        _default(measure, quantity, unit, result)
        for quantity, result in zip(measure.quantities, results, strict=True)
    ]
    return places if arguments.get("round") == "each" else [max(places)] * len(places)


def _default(measure: Measure, quantity: Quantity, unit: Unit, result: Fraction) -> int:
    if is_temperature(unit):
        kelvins = unit.to_base(result)
        return max(int(quantity.places), significant_places(kelvins, 3) if kelvins else 2)
    if not measure.smaller:
        to_the_unit = unit.code in TO_THE_UNIT and quantity.value.denominator == 1
        return default_places(quantity.places, (1 if to_the_unit else unit.scale) / measure.unit.scale, result)
    last, smaller = measure.smaller
    # To the inch is taken as to the centimetre: a height of 6 ft 2 in is 1.88 m.
    counted = CENTIMETRE if smaller.code == SMALL_DIVISION else smaller.scale
    return default_places(max(last.places, 0), unit.scale / counted, result)


def _divided(measure: Measure, codes: tuple[str, str], precision: int | None, style: Style) -> tuple[str, str] | None:
    """A result in two units side by side, such as `5 ft 11 in`."""
    larger, smaller = (find_unit(code) for code in codes)
    if larger is None or smaller is None or larger.kind != measure.unit.kind:
        return None
    shown = [_two_parts(base, larger, smaller, max(precision or 0, 0), style) for base in measure.bases()]
    return "".join(word + part for word, part in zip(("", *measure.words), shown, strict=True)), ""


def _two_parts(base: Fraction, larger: Unit, smaller: Unit, places: int, style: Style) -> str:
    steps = larger.scale / smaller.scale
    total = rounded(abs(smaller.of_base(base)), places)
    above, below = divmod(total, steps)
    symbol = style.symbols_out
    sign = "−" if base < 0 else ""
    first = f"{sign}{write_number(Fraction(above), 0)}{style.unit(larger, symbol=symbol, one=above == 1)}"
    return f"{first} {write_number(below, places)}{style.unit(smaller, symbol=symbol, one=below == 1)}"
