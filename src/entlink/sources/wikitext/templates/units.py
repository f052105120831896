"""The units of measure that `{{convert}}` knows, by the codes it takes."""

from __future__ import annotations

import re
from fractions import Fraction

from entlink.documents import Record

POWERS = {"3": "thousand", "6": "million", "9": "billion", "12": "trillion"}
POWER = re.compile(r"e(3|6|9|12)(.+)", re.ASCII)
LETTERS = {"k": "3", "M": "6", "G": "9", "T": "12"}
COUNTED = frozenset({"oilbbl", "oilbbl/d", "cuft", "USgal", "impgal"})  # of these k and M are a count, no SI prefix


class Unit(Record, frozen=True):
    """A unit: `scale` and `offset` make of a value that of its base, `outputs` is what it is converted to."""

    code: str
    kind: str
    symbol: str  # empty: it has none, its name is always written
    name: str
    plural: str
    scale: Fraction
    outputs: str
    offset: Fraction = Fraction(0)

    def to_base(self, value: Fraction) -> Fraction:
        return (value + self.offset) * self.scale

    def of_base(self, value: Fraction) -> Fraction:
        return value / self.scale - self.offset

    def written(self, *, symbol: bool, one: bool) -> str:
        """How it stands after a number."""
        if symbol and self.symbol:
            return self.symbol
        return self.name if one else self.plural


# Codes, symbol, name, plural where it is not the name with an s, the size in the base unit, what it is converted to.
Row = tuple[str, str, str, str, str, str]
_LENGTH: tuple[Row, ...] = (
    ("nm", "nm", "nanometre", "", "1e-9", "in"),
    ("um μm µm", "μm", "micrometre", "", "1e-6", "in"),
    ("mm", "mm", "millimetre", "", "0.001", "in"),
    ("cm", "cm", "centimetre", "", "0.01", "in"),
    ("dm", "dm", "decimetre", "", "0.1", "in"),
    ("m metre meter", "m", "metre", "", "1", "ft"),
    ("km", "km", "kilometre", "", "1000", "mi"),
    ("Gm", "Gm", "gigametre", "", "1e9", "mi"),
    ("in inch", "in", "inch", "inches", "0.0254", "mm"),
    ("ft foot feet", "ft", "foot", "feet", "0.3048", "m"),
    ("yd yard", "yd", "yard", "", "0.9144", "m"),
    ("mi mile miles smi", "mi", "mile", "", "1609.344", "km"),
    ("nmi", "nmi", "nautical mile", "", "1852", "km mi"),
    ("fathom fathoms ftm", "", "fathom", "", "1.8288", "ft m"),
    ("furlong", "", "furlong", "", "201.168", "ft m"),
    ("chain", "", "chain", "", "20.1168", "ft m"),
    ("rod", "", "rod", "", "5.0292", "ft m"),
    ("hand", "", "hand", "", "0.1016", "in cm"),
    ("AU au", "AU", "astronomical unit", "", "149597870700", "km mi"),
    ("ly", "ly", "light-year", "", "9460730472580800", "pc"),
    ("pc", "pc", "parsec", "", "30856775814913673", "ly"),
)
_AREA: tuple[Row, ...] = (
    ("mm2", "mm²", "square millimetre", "", "1e-6", "sqin"),
    ("cm2", "cm²", "square centimetre", "", "0.0001", "sqin"),
    ("m2 sqm", "m²", "square metre", "", "1", "sqft"),
    ("ha hectare", "ha", "hectare", "", "10000", "acre"),
    ("km2 sqkm", "km²", "square kilometre", "", "1000000", "sqmi"),
    ("sqin in2", "sq in", "square inch", "square inches", "0.00064516", "cm2"),
    ("sqft ft2", "sq ft", "square foot", "square feet", "0.09290304", "m2"),
    ("sqyd yd2", "sq yd", "square yard", "", "0.83612736", "m2"),
    ("acre acres", "", "acre", "", "4046.8564224", "ha"),
    ("sqmi mi2", "sq mi", "square mile", "", "2589988.110336", "km2"),
)
_VOLUME: tuple[Row, ...] = (
    ("mm3", "mm³", "cubic millimetre", "", "1e-9", "cuin"),
    ("cm3 cc", "cm³", "cubic centimetre", "", "1e-6", "cuin"),
    ("mL ml", "mL", "millilitre", "", "1e-6", "impoz USoz"),
    ("cL cl", "cL", "centilitre", "", "1e-5", "impoz USoz"),
    ("L l litre liter", "L", "litre", "", "0.001", "impgal USgal"),
    ("hL hl", "hL", "hectolitre", "", "0.1", "impgal USgal"),
    ("ML Ml", "ML", "megalitre", "", "1000", "USgal"),
    ("m3", "m³", "cubic metre", "", "1", "cuft"),
    ("km3", "km³", "cubic kilometre", "", "1e9", "cumi"),
    ("cuin in3", "cu in", "cubic inch", "cubic inches", "0.000016387064", "cm3"),
    ("cuft ft3", "cu ft", "cubic foot", "cubic feet", "0.028316846592", "m3"),
    ("cuyd yd3", "cu yd", "cubic yard", "", "0.764554857984", "m3"),
    ("cumi mi3", "cu mi", "cubic mile", "", "4168181825.440579584", "km3"),
    ("USgal gal U.S.gal", "US gal", "US gallon", "", "0.003785411784", "L impgal"),
    ("USqt", "US qt", "US quart", "", "0.000946352946", "L"),
    ("USpt", "US pt", "US pint", "", "0.000473176473", "L"),
    ("USoz", "US fl oz", "US fluid ounce", "", "0.0000295735295625", "mL"),
    ("impgal", "imp gal", "imperial gallon", "", "0.00454609", "L USgal"),
    ("imppt", "imp pt", "imperial pint", "", "0.00056826125", "L"),
    ("impoz", "imp fl oz", "imperial fluid ounce", "", "0.0000284130625", "mL"),
    ("acre.ft acre-ft acreft", "acre⋅ft", "acre-foot", "acre-feet", "1233.48183754752", "m3"),
    ("oilbbl", "bbl", "barrel", "", "0.158987294928", "m3"),
)
_MASS: tuple[Row, ...] = (
    ("mg", "mg", "milligram", "", "1e-6", "gr"),
    ("g", "g", "gram", "", "0.001", "oz"),
    ("kg", "kg", "kilogram", "", "1", "lb"),
    ("t tonne MT", "t", "tonne", "", "1000", "LT ST"),
    ("kt", "kt", "kilotonne", "", "1e6", "LT ST"),
    ("Mt", "Mt", "megatonne", "", "1e9", "LT ST"),
    ("gr", "gr", "grain", "", "0.00006479891", "g"),
    ("oz", "oz", "ounce", "", "0.028349523125", "g"),
    ("ozt", "ozt", "troy ounce", "", "0.0311034768", "g"),
    ("lb lbs", "lb", "pound", "", "0.45359237", "kg"),
    ("st stone", "st", "stone", "stone", "6.35029318", "lb kg"),
    ("LT", "long tons", "long ton", "", "1016.0469088", "t ST"),
    ("ST", "short tons", "short ton", "", "907.18474", "t LT"),
    ("carat", "", "carat", "", "0.0002", "g"),
)
_SPEED: tuple[Row, ...] = (
    ("m/s", "m/s", "metre per second", "metres per second", "1", "ft/s"),
    ("km/s", "km/s", "kilometre per second", "kilometres per second", "1000", "mi/s"),
    ("km/h kph", "km/h", "kilometre per hour", "kilometres per hour", "5/18", "mph"),
    ("ft/s", "ft/s", "foot per second", "feet per second", "0.3048", "m/s"),
    ("ft/min", "ft/min", "foot per minute", "feet per minute", "0.00508", "m/s"),
    ("mi/s", "mi/s", "mile per second", "miles per second", "1609.344", "km/s"),
    ("mph mi/h", "mph", "mile per hour", "miles per hour", "0.44704", "km/h"),
    ("kn knot knots", "kn", "knot", "", "1852/3600", "km/h mph"),
)
_POWER: tuple[Row, ...] = (
    ("W", "W", "watt", "", "1", "hp"),
    ("kW", "kW", "kilowatt", "", "1000", "hp"),
    ("MW", "MW", "megawatt", "", "1e6", "hp"),
    ("GW", "GW", "gigawatt", "", "1e9", "hp"),
    ("hp", "hp", "horsepower", "horsepower", "745.69987158227022", "kW"),
    ("bhp", "bhp", "brake horsepower", "brake horsepower", "745.69987158227022", "kW"),
    ("ihp", "ihp", "indicated horsepower", "indicated horsepower", "745.69987158227022", "kW"),
    ("shp", "shp", "shaft horsepower", "shaft horsepower", "745.69987158227022", "kW"),
    ("PS", "PS", "metric horsepower", "metric horsepower", "735.49875", "kW"),
)
_ENERGY: tuple[Row, ...] = (
    ("J", "J", "joule", "", "1", "cal"),
    ("kJ", "kJ", "kilojoule", "", "1000", "kcal"),
    ("MJ", "MJ", "megajoule", "", "1e6", "kWh"),
    ("GJ", "GJ", "gigajoule", "", "1e9", "kWh"),
    ("TJ", "TJ", "terajoule", "", "1e12", "GWh"),
    ("Wh", "Wh", "watt-hour", "", "3600", "kJ"),
    ("kWh kW.h", "kWh", "kilowatt-hour", "", "3.6e6", "MJ"),
    ("MWh MW.h", "MWh", "megawatt-hour", "", "3.6e9", "GJ"),
    ("GWh GW.h", "GWh", "gigawatt-hour", "", "3.6e12", "TJ"),
    ("TWh TW.h", "TWh", "terawatt-hour", "", "3.6e15", "TJ"),
    ("cal", "cal", "calorie", "", "4.184", "J"),
    ("kcal Cal", "kcal", "kilocalorie", "", "4184", "kJ"),
    ("BTU Btu", "BTU", "British thermal unit", "", "1055.05585262", "kJ"),
    ("ftlbf ft.lbf", "ft⋅lbf", "foot-pound", "", "1.3558179483314004", "J"),
    ("kt(TNT) ktTNT", "kt", "kiloton", "", "4.184e12", "TJ"),
    ("Mt(TNT) MtTNT", "Mt", "megaton", "", "4.184e15", "TJ"),
)
_PRESSURE: tuple[Row, ...] = (
    ("Pa", "Pa", "pascal", "", "1", "psi"),
    ("hPa", "hPa", "hectopascal", "", "100", "inHg"),
    ("kPa", "kPa", "kilopascal", "", "1000", "psi"),
    ("MPa", "MPa", "megapascal", "", "1e6", "psi"),
    ("GPa", "GPa", "gigapascal", "", "1e9", "psi"),
    ("mbar mb millibar", "mbar", "millibar", "", "100", "inHg"),
    ("bar", "bar", "bar", "", "100000", "kPa"),
    ("atm", "atm", "standard atmosphere", "", "101325", "kPa"),
    ("psi", "psi", "pound per square inch", "pounds per square inch", "6894.757293168361", "kPa"),
    ("inHg", "inHg", "inch of mercury", "inches of mercury", "3386.388640341", "kPa"),
    ("mmHg torr", "mmHg", "millimetre of mercury", "millimetres of mercury", "133.322387415", "kPa"),
)
_FORCE: tuple[Row, ...] = (
    ("N", "N", "newton", "", "1", "lbf"),
    ("kN", "kN", "kilonewton", "", "1000", "lbf"),
    ("MN", "MN", "meganewton", "", "1e6", "lbf"),
    ("lbf", "lbf", "pound-force", "pounds-force", "4.4482216152605", "N"),
    ("kgf", "kgf", "kilogram-force", "kilograms-force", "9.80665", "N"),
)
_TORQUE: tuple[Row, ...] = (
    ("Nm N.m", "N⋅m", "newton-metre", "", "1", "lbft"),
    ("lbft lb.ft lbfft lbf.ft", "lb⋅ft", "pound-foot", "pound-feet", "1.3558179483314004", "Nm"),
)
_FLOW: tuple[Row, ...] = (
    ("m3/s", "m³/s", "cubic metre per second", "cubic metres per second", "1", "cuft/s"),
    ("m3/d", "m³/d", "cubic metre per day", "cubic metres per day", "1/86400", "cuft/d"),
    ("L/s l/s", "L/s", "litre per second", "litres per second", "0.001", "cuft/s"),
    ("cuft/s ft3/s", "cu ft/s", "cubic foot per second", "cubic feet per second", "0.028316846592", "m3/s"),
    ("cuft/d", "cu ft/d", "cubic foot per day", "cubic feet per day", "0.028316846592/86400", "m3/d"),
    ("oilbbl/d", "bbl/d", "barrel per day", "barrels per day", "0.158987294928/86400", "m3/d"),
    ("USgal/min", "US gal/min", "US gallon per minute", "US gallons per minute", "0.003785411784/60", "L/s"),
)
_DENSITY: tuple[Row, ...] = (
    ("PD/km2 /km2", "/km²", "inhabitant per square kilometre", "inhabitants per square kilometre", "1e-6", "PD/sqmi"),
    (
        "PD/sqmi /sqmi",
        "/sq mi",
        "inhabitant per square mile",
        "inhabitants per square mile",
        "1/2589988.110336",
        "PD/km2",
    ),
)
_TEMPERATURE = "temperature"
_DEGREES = (  # codes, symbol, name, plural, size of a degree in kelvins, what zero is in degrees, what to convert to
    ("C °C degC", "°C", "degree Celsius", "degrees Celsius", "1", "273.15", "F"),
    ("F °F degF", "°F", "degree Fahrenheit", "degrees Fahrenheit", "5/9", "459.67", "C"),
    ("K", "K", "kelvin", "kelvins", "1", "0", "C F"),
    ("R °R degR", "°R", "degree Rankine", "degrees Rankine", "5/9", "0", "K F C"),
)
_DIFFERENCE: tuple[Row, ...] = (
    ("C-change", "°C", "degree Celsius", "degrees Celsius", "1", "F-change"),
    ("F-change", "°F", "degree Fahrenheit", "degrees Fahrenheit", "5/9", "C-change"),
)
_KINDS = {
    "length": _LENGTH,
    "area": _AREA,
    "volume": _VOLUME,
    "mass": _MASS,
    "speed": _SPEED,
    "power": _POWER,
    "energy": _ENERGY,
    "pressure": _PRESSURE,
    "force": _FORCE,
    "torque": _TORQUE,
    "flow": _FLOW,
    "density": _DENSITY,
    "difference of temperature": _DIFFERENCE,
}
DIVISIONS = {  # of a unit into smaller ones, which are written side by side
    "ftin": ("ft", "in"),
    "ydft": ("yd", "ft"),
    "miyd": ("mi", "yd"),
    "mift": ("mi", "ft"),
    "michain": ("mi", "chain"),
    "stlb": ("st", "lb"),
    "lboz": ("lb", "oz"),
}


def find_unit(code: str) -> Unit | None:
    """The unit of a code, which may begin with a power of ten: `km2`, `e6km2`, `Moilbbl`."""
    if unit := UNITS.get(code):
        return unit
    if power := POWER.fullmatch(code):
        return _counted(power[2], power[1])
    if code[:1] in LETTERS and code[1:] in COUNTED:
        return _counted(code[1:], LETTERS[code[0]])
    return None


def is_temperature(unit: Unit) -> bool:
    """Whether it measures warmth on a scale, not a difference or anything else."""
    return unit.kind == _TEMPERATURE


def _counted(code: str, power: str) -> Unit | None:
    unit = UNITS.get(code)
    if unit is None or is_temperature(unit):
        return None
    word = POWERS[power]
    symbol = f"{word} {unit.symbol}" if unit.symbol else ""
    return Unit(
        f"e{power}{code}",
        unit.kind,
        symbol,
        f"{word} {unit.name}",
        f"{word} {unit.plural}",
        unit.scale * 10 ** int(power),
        " ".join(f"e{power}{output}" for output in unit.outputs.split()),
    )


def _size(written: str) -> Fraction:
    above, _, below = written.partition("/")
    return Fraction(above) / Fraction(below or 1)


def _all_units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for kind, rows in _KINDS.items():
        for codes, symbol, name, plural, scale, outputs in rows:
            first, *_ = names = codes.split()
            units |= dict.fromkeys(
                names, Unit(first, kind, symbol, name, plural or name + "s", _size(scale), outputs)
            )
    for codes, symbol, name, plural, scale, zero, outputs in _DEGREES:
        first, *_ = names = codes.split()
        unit = Unit(first, _TEMPERATURE, symbol, name, plural, _size(scale), outputs, Fraction(zero))
        units |= dict.fromkeys(names, unit)
    return units


UNITS = _all_units()
