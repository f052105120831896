"""The countries that templates of flags name by their codes."""

from __future__ import annotations

_CODES = """
AFG Afghanistan|ALB Albania|ALG DZA Algeria|AND Andorra|ANG AGO Angola|ARG Argentina|ARM Armenia|AUS Australia
AUT Austria|AZE Azerbaijan|BAH BHS The Bahamas|BAN BGD Bangladesh|BAR BRB Barbados|BEL Belgium|BLR Belarus
BOL Bolivia|BIH Bosnia and Herzegovina|BOT BWA Botswana|BRA Brazil|BUL BGR Bulgaria|CAM KHM Cambodia|CMR Cameroon
CAN Canada|CHI CHL Chile|CHN PRC China|COL Colombia|COD Democratic Republic of the Congo|CRC CRI Costa Rica
CRO HRV Croatia|CUB Cuba|CYP Cyprus|CZE Czech Republic|DEN DNK Denmark|DOM Dominican Republic|ECU Ecuador|EGY Egypt
ENG England|ESA SLV El Salvador|EST Estonia|ETH Ethiopia|FIJ FJI Fiji|FIN Finland|FRA France|GEO Georgia (country)
GER DEU Germany|GHA Ghana|GRE GRC Greece|GUA GTM Guatemala|HAI HTI Haiti|HON HND Honduras|HKG Hong Kong|HUN Hungary
ISL Iceland|IND India|INA IDN Indonesia|IRI IRN Iran|IRQ Iraq|IRL Republic of Ireland|ISR Israel|ITA Italy
CIV Ivory Coast|JAM Jamaica|JPN Japan|JOR Jordan|KAZ Kazakhstan|KEN Kenya|PRK North Korea|KOR South Korea
KOS XKX Kosovo|KUW KWT Kuwait|KGZ Kyrgyzstan|LAO Laos|LAT LVA Latvia|LIB LBN Lebanon|LBA LBY Libya|LIE Liechtenstein
LTU Lithuania|LUX Luxembourg|MKD North Macedonia|MAD MDG Madagascar|MAS MYS Malaysia|MLI Mali|MLT Malta|MEX Mexico
MDA Moldova|MON MCO Monaco|MGL MNG Mongolia|MNE Montenegro|MAR Morocco|MOZ Mozambique|MYA MMR Myanmar|NAM Namibia
NEP NPL Nepal|NED NLD Netherlands|NZL New Zealand|NCA NIC Nicaragua|NGR NGA Nigeria|NIR Northern Ireland|NOR Norway
PAK Pakistan|PAN Panama|PAR PRY Paraguay|PER Peru|PHI PHL Philippines|POL Poland|POR PRT Portugal|PUR PRI Puerto Rico
QAT Qatar|ROU ROM Romania|RUS Russia|RWA Rwanda|KSA SAU Saudi Arabia|SCO Scotland|SEN Senegal|SRB Serbia
SIN SGP Singapore|SVK Slovakia|SLO SVN Slovenia|SOM Somalia|RSA ZAF South Africa|URS USSR Soviet Union|ESP Spain
SRI LKA Sri Lanka|SUD SDN Sudan|SWE Sweden|SUI CHE Switzerland|SYR Syria|TPE TWN ROC Taiwan|TJK Tajikistan
TAN TZA Tanzania|THA Thailand|TRI TTO Trinidad and Tobago|TUN Tunisia|TUR Turkey|TKM Turkmenistan|UGA Uganda
UKR Ukraine|UAE ARE United Arab Emirates|UK GBR United Kingdom|US USA United States|URU URY Uruguay|UZB Uzbekistan
VEN Venezuela|VIE VNM Vietnam|WAL Wales|YEM Yemen|YUG Yugoslavia|ZAM ZMB Zambia|ZIM ZWE Zimbabwe
"""


def _by_code() -> dict[str, str]:
    titles: dict[str, str] = {}
    for row in _CODES.strip().replace("\n", "|").split("|"):
        words = row.split(" ")
        codes = [word for word in words if word.isupper()]
        titles |= dict.fromkeys(codes, " ".join(words[len(codes) :]))
    return titles


COUNTRIES = _by_code()  # the title of the article by each code


def country_link(named: str) -> str:
    """A link to a country that is named by its code or its title; what comes in brackets is not shown."""
    title = COUNTRIES.get(named, named)
    shown = title.partition(" (")[0]
    return f"[[{title}]]" if shown == title else f"[[{title}|{shown}]]"
