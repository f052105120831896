"""Numbers as `{{convert}}` reads and writes them: how precise they are, and how to round what comes out."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from entlink.documents import Record

MINUS = "−"
DECIMAL = re.compile(r"([-+]?)([0-9]{1,20})?(?:\.([0-9]{0,20}))?(?:[eE]([-+]?[0-9]{1,2}))?", re.ASCII)
FRACTION = re.compile(r"([-+]?)(?:([0-9]{1,12})[+ ])?([0-9]{1,9})[/⁄]([0-9]{1,9})", re.ASCII)
LONGEST = 60
FUDGE = 1e-12  # a logarithm that should be whole may come out a little less
_SIGNS = str.maketrans({MINUS: "-", "–": "-", ",": None})


class Quantity(Record, frozen=True):
    """A number an author wrote. `places` are the decimals it is precise to: 1 for 0.5, -2 for 500."""

    value: Fraction
    places: float
    shown: str
    singular: bool = False


def read_quantity(written: str) -> Quantity | None:
    """`1,300`, `−5.0`, `1.5e6`, `1/2` or `2+1/2`; None where it is no number."""
    if len(written) > LONGEST:
        return None
    plain = written.translate(_SIGNS)
    if found := FRACTION.fullmatch(plain):
        return _fraction(found)
    found = DECIMAL.fullmatch(plain)
    return _decimal(found) if found and (found[2] or found[3]) else None


def whole(written: str) -> int | None:
    """A small whole number, such as the decimals to round to."""
    found = DECIMAL.fullmatch(written.translate(_SIGNS)) if len(written) <= 3 else None
    return int(found[1] + found[2]) if found and found[2] and found[3] is None and not found[4] else None


def default_places(places: float, ratio: Fraction, result: Fraction) -> int:
    """The decimals that a result deserves: as exact as the input was, and never under two significant digits.

    `ratio` is how many units of the input make one of the output, so one in the input's last place is `1 / ratio`
    there. The result is rounded to the power of ten from half of that to five times it: a factor of 0.2 to 2 keeps
    the decimals, one of 2 to 20 takes one off. 26.2 mi are 42.2 km, 123 km are 76 mi, 37 mm are 1.5 in.
    """
    if not result:
        return 0
    return max(math.floor(places + math.log10(2 * ratio) + FUDGE), significant_places(result, 2))


def significant_places(result: Fraction, digits: int) -> int:
    """The decimals that leave a result so many significant digits."""
    return digits - 1 - math.floor(math.log10(abs(result)) + FUDGE) if result else 0


def rounded(value: Fraction, places: int) -> Fraction:
    """To so many decimals (before the point where it is negative), halves away from zero."""
    steps = _steps(value, places) * (1 if value >= 0 else -1)
    return steps / Fraction(10) ** places


def write_number(value: Fraction, places: int, *, grouped: bool = True) -> str:
    """Rounded, with all its decimals, a true minus sign and commas between thousands."""
    steps = _steps(value, places)
    decimals = max(places, 0)
    digits = str(steps * 10 ** max(-places, 0)).rjust(decimals + 1, "0")
    before, after = (digits[:-decimals], "." + digits[-decimals:]) if decimals else (digits, "")
    return (MINUS if value < 0 and steps else "") + (_with_commas(before) if grouped else before) + after


def _steps(value: Fraction, places: int) -> int:
    """How many units of the last place the value has, whatever its sign."""
    above, below = abs(value.numerator), value.denominator
    if places >= 0:
        above *= 10**places
    else:
        below *= 10**-places
    return (2 * above + below) // (2 * below)


def _with_commas(digits: str) -> str:
    return f"{int(digits):,}"


def _fraction(found: re.Match[str]) -> Quantity | None:
    sign, units, above, below = found.groups()
    if not int(below):
        return None
    size = int(units or 0) + Fraction(int(above), int(below))
    minus = sign == "-"
    shown = f"{MINUS if minus else ''}{_with_commas(units) + ' ' if units else ''}{above}/{below}"
    return Quantity(-size if minus else size, max(math.log10(int(below)), 1), shown, singular=size <= 1)


def _decimal(found: re.Match[str]) -> Quantity:
    sign, units, decimals, power = found.groups()
    units = units or "0"
    exponent = int(power or 0)
    size = Fraction(int(units + (decimals or "")), 10 ** len(decimals or "")) * Fraction(10) ** exponent
    places = len(decimals) if decimals is not None else -(len(units) - len(units.rstrip("0")))
    shown = (MINUS if sign == "-" else "") + _with_commas(units) + (f".{decimals}" if decimals else "")
    if exponent:
        shown += f"×10<sup>{exponent}</sup>"
    return Quantity(-size if sign == "-" else size, places - exponent, shown, singular=size == 1)
