"""The template convert: rounding, ranges, units side by side, and the manners of showing them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entlink.sources.wikitext.templates.arguments import Arguments, named_and_placed
from entlink.sources.wikitext.templates.convert import convert
from entlink.sources.wikitext.templates.quantity import read_quantity, rounded, significant_places, write_number
from entlink.sources.wikitext.templates.units import DIVISIONS, UNITS, find_unit


def converted(written: str) -> str | None:
    return convert(Arguments("Convert", named_and_placed(written.split("|"))))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("37|mm|in", "37 mm (1.5 in)"),
        ("100|km|mi", "100 km (62 mi)"),
        ("5|mi|km", "5 mi (8.0 km)"),
        ("10|ft|m", "10 ft (3.0 m)"),
        ("500|ft|m", "500 ft (150 m)"),
        ("212|F|C", "212 °F (100 °C)"),
        ("26.2|mi|km", "26.2 mi (42.2 km)"),
        ("10|lb|kg", "10 lb (4.5 kg)"),
        ("1|mi|km", "1 mi (1.6 km)"),
        ("1.0|mi|km", "1.0 mi (1.6 km)"),
        ("1.00|mi|km", "1.00 mi (1.61 km)"),
        ("1000|m|ft", "1,000 m (3,300 ft)"),
        ("123|km|mi", "123 km (76 mi)"),
        ("1,234|m|ft", "1,234 m (4,049 ft)"),
        ("1,234.5|m|ft", "1,234.5 m (4,050 ft)"),
        ("55|kg|lb", "55 kg (121 lb)"),
        ("7.1|mi|km", "7.1 mi (11.4 km)"),
        ("7.0|mi|km", "7.0 mi (11.3 km)"),
        ("123|ft|m", "123 ft (37 m)"),
        ("1.5e6|km|mi", "1.5×10<sup>6</sup> km (930,000 mi)"),
        ("1/2|mi|km", "1/2 mi (0.80 km)"),
        ("2+1/2|in|cm", "2 1/2 in (6.4 cm)"),
        ("0|km|mi", "0 km (0 mi)"),
        ("-40|C|F", "−40 °C (−40 °F)"),
        ("−80|°F", "−80 °F (−62 °C)"),
        ("0|C", "0 °C (32 °F)"),
        ("0|K|C", "0 K (−273.15 °C)"),
        ("5|C-change", "5 °C (9.0 °F)"),
        ("486|mm|0", "486 mm (19 in)"),
        ("179|km2|sqmi|1", "179 km² (69.1 sq mi)"),
        ("2300|kg|lb|-1", "2,300 kg (5,070 lb)"),
        ("300|kg|lb|sigfig=3", "300 kg (661 lb)"),
        ("63|mi|km|round=5", "63 mi (100 km)"),
        ("63|mi|km|round=0.5", "63 mi (101.5 km)"),
        ("1000|m|ft|comma=off", "1000 m (3300 ft)"),
    ],
)
def test_rounding(written: str, expected: str) -> None:
    assert converted(f"{written}|abbr=on") == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3|to|5|km|mi", "3 to 5 km (1.9 to 3.1 mi)"),
        ("20|-|25|cm|in", "20–25 cm (7.9–9.8 in)"),
        ("20–25|cm|in", "20–25 cm (7.9–9.8 in)"),
        ("5|and|10|km|mi", "5 and 10 km (3.1 and 6.2 mi)"),
        ("4|x|6|in|cm", "4 × 6 in (10 × 15 cm)"),
        ("2|by|3|by|4|m|ft", "2 by 3 by 4 m (6.6 by 9.8 by 13.1 ft)"),
        ("9|to|100|km|mi|round=each", "9 to 100 km (5.6 to 62 mi)"),
        ("6|ft|2|in|m", "6 ft 2 in (1.88 m)"),
        ("6|ft|4|in|cm|0", "6 ft 4 in (193 cm)"),
        ("6|ft|2|in", "6 ft 2 in (1.88 m)"),
        ("10|st|5|lb", "10 st 5 lb (66 kg)"),
        ("1.80|m|ftin", "1.80 m (5 ft 11 in)"),
        ("1.8|m", "1.8 m (5 ft 11 in)"),
        ("0.3048|m", "0.3048 m (1 ft 0 in)"),
        ("60|kg|stlb", "60 kg (9 st 6 lb)"),
        ("50|kn", "50 kn (93 km/h; 58 mph)"),
        ("100|nmi|km mi", "100 nmi (190 km; 120 mi)"),
        ("3|e6acre|e6ha", "3 million acres (1.2 million ha)"),
        ("2|Moilbbl/d", "2 million bbl/d (0.32 million m³/d)"),
        ("1.2|PD/sqmi", "1.2/sq mi (0.46/km²)"),
        ("6|acre", "6 acres (2.4 ha)"),
        ("1|acre", "1 acre (0.40 ha)"),
        ("400|hp", "400 hp (300 kW)"),
        ("30|psi", "30 psi (210 kPa)"),
        ("250|kcal", "250 kcal (1,000 kJ)"),
        ("5|L", "5 L (1.1 imp gal; 1.3 US gal)"),
        ("100|km/h", "100 km/h (62 mph)"),
    ],
)
def test_ranges_divisions_and_units(written: str, expected: str) -> None:
    assert converted(f"{written}|abbr=on") == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("5|mi|km", "5 miles (8.0 km)"),
        ("1|mi|km", "1 mile (1.6 km)"),
        ("1/2|mi|km", "1/2 mile (0.80 km)"),
        ("5|mi|km|abbr=on", "5 mi (8.0 km)"),
        ("5|mi|km|abbr=off", "5 miles (8.0 kilometres)"),
        ("5|mi|km|abbr=in", "5 mi (8.0 kilometres)"),
        ("5|km|mi|sp=us", "5 kilometers (3.1 mi)"),
        ("5|t|LT|sp=us", "5 metric tons (4.9 long tons)"),
        ("60|mi|km|adj=on", "60-mile (97 km)"),
        ("6|sqft|m2|adj=on", "6-square-foot (0.56 m²)"),
        ("10|ft|m|adj=mid|-long", "10-foot-long (3.0 m)"),
        ("10|mi|km|adj=pre|statute", "10 statute miles (16 km)"),
        ("5|mi|km|order=flip", "8.0 kilometres (5 mi)"),
        ("5|mi|km|disp=flip", "8.0 kilometres (5 mi)"),
        ("5|mi|km|disp=or", "5 miles or 8.0 km"),
        ("5|mi|km|disp=comma", "5 miles, 8.0 km"),
        ("5|mi|km|disp=sqbr", "5 miles [8.0 km]"),
        ("5|mi|km|disp=output only", "8.0 km"),
        ("5|mi|km|disp=number", "8.0"),
        ("5|mi|km|disp=table", "5 miles (8.0 km)"),
        ("6|ft|2|in|m", "6 feet 2 inches (1.88 m)"),
    ],
)
def test_manners_of_showing(written: str, expected: str) -> None:
    assert converted(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("12|smoot|m", "12 smoot"),
        ("3|to|5|smoot", "3 to 5 smoot"),
        ("many|km", "many km"),
        ("12", "12"),
        ("12|km|smoot|abbr=on", "12 km"),
        ("12|km|kg|abbr=on", "12 km"),
        ("12|km|stlb|abbr=on", "12 km"),
        ("1/0|km", "1/0 km"),
        ("e5C", "e5C"),
        ("5|e6C", "5 e6C"),
        ("", None),
    ],
)
def test_what_cannot_be_converted_stays_as_written(written: str, expected: str | None) -> None:
    assert converted(written) == expected


words = st.sampled_from(
    [
        *UNITS,
        *DIVISIONS,
        "to",
        "-",
        "x",
        "by",
        "1",
        "0",
        "-5",
        "1/2",
        "1e99",
        "9" * 20,
        "99",
        "-99",
        "",
        "km mi",
        "e6km",
    ]
)
options = st.sampled_from(
    ["abbr=on", "abbr=off", "adj=mid", "adj=on", "sigfig=0", "sigfig=99", "round=each", "round=0", "round=5", "sp=us"]
)


@given(st.lists(words | options | st.text(max_size=8), max_size=8))
@example(["1e99", "km", "nm", "99"])
@example(["0." + "0" * 20, "km"])
@example(["5", "km", "mi", "9999"])
def test_nothing_makes_it_raise(arguments: list[str]) -> None:
    result = convert(Arguments("Convert", named_and_placed(arguments)))
    assert result is None or result.strip()


@given(st.fractions(min_value=-(10**9), max_value=10**9), st.integers(-5, 8))
def test_rounding_is_to_the_nearest(value: Fraction, places: int) -> None:
    step = Fraction(10) ** -places
    result = rounded(value, places)
    assert abs(result - value) <= step / 2
    assert (result / step).denominator == 1
    shown = write_number(value, places).replace(",", "").replace("−", "-")
    assert Fraction(shown) == result


@given(st.integers(1, 10**12), st.integers(1, 6))
def test_significant_digits(number: int, digits: int) -> None:
    shown = str(rounded(Fraction(number), significant_places(Fraction(number), digits)))
    assert len(shown.rstrip("0")) <= digits


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=3))
def test_numbers_are_read_as_written(number: object) -> None:
    quantity = read_quantity(str(number))
    assert quantity is not None
    assert (quantity.value, quantity.places) == (Fraction(str(number)), 3)


def test_every_unit_converts_to_units_of_its_kind_and_back() -> None:
    for code, unit in UNITS.items():
        for output in unit.outputs.split():
            other = find_unit(output)
            assert other is not None and other.kind == unit.kind, code
            assert unit.of_base(other.to_base(other.of_base(unit.to_base(Fraction(7))))) == 7


def test_divisions_are_of_one_kind() -> None:
    for larger, smaller in DIVISIONS.values():
        assert UNITS[larger].kind == UNITS[smaller].kind
        assert UNITS[larger].scale > UNITS[smaller].scale
