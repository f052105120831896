"""Redirects that a page's text tells of, for the exports that do not mark them."""

from __future__ import annotations

import re

# The word after the "#", by the language of the wiki; the English one holds in every wiki.
REDIRECT_WORDS = {
    "ar": ("تحويل",),
    "az": ("İSTİQAMƏTLƏNDİRMƏ",),
    "be": ("ПЕРАНАКІРАВАННЕ", "перанакіраваньне"),
    "bg": ("ВИЖ", "пренасочване"),
    "bn": ("পুনর্নির্দেশ", "পুনঃনির্দেশ"),
    "br": ("ADKAS",),
    "bs": ("PREUSMJERI",),
    "ca": ("REDIRECCIÓ",),
    "cs": ("PŘESMĚRUJ",),
    "cy": ("AIL-CYFEIRIO", "AILGYFEIRIO"),
    "da": ("OMDIRIGERING",),
    "de": ("WEITERLEITUNG",),
    "el": ("ΑΝΑΚΑΤΕΥΘΥΝΣΗ",),
    "en": ("REDIRECT",),
    "eo": ("ALIDIREKTU",),
    "es": ("REDIRECCIÓN", "REDIRECCION"),
    "et": ("SUUNA",),
    "eu": ("BIRZUZENDU",),
    "fa": ("تغییرمسیر", "تغییر_مسیر"),
    "fi": ("OHJAUS", "UUDELLEENOHJAUS"),
    "fr": ("REDIRECTION",),
    "ga": ("ATHSHEOLADH",),
    "he": ("הפניה",),
    "hi": ("पुनर्प्रेषित", "अनुप्रेषित"),
    "hr": ("PREUSMJERI",),
    "hu": ("ÁTIRÁNYÍTÁS",),
    "hy": ("ՎԵՐԱՀՂՈՒՄ",),
    "id": ("ALIH",),
    "is": ("TILVÍSUN",),
    "it": ("RINVIA", "RINVIO"),
    "ja": ("転送", "リダイレクト"),
    "ka": ("გადამისამართება",),
    "kk": ("АЙДАУ",),
    "ko": ("넘겨주기",),
    "lt": ("PERADRESAVIMAS",),
    "mk": ("ПРЕНАСОЧУВАЊЕ",),
    "ml": ("തിരിച്ചുവിടുക",),
    "mr": ("पुनर्निर्देशन",),
    "ms": ("LENCONG",),
    "nl": ("DOORVERWIJZING",),
    "nn": ("OMDIRIGER",),
    "no": ("OMDIRIGERING",),
    "pl": ("PATRZ", "PRZEKIERUJ", "TAM"),
    "pt": ("REDIRECIONAMENTO",),
    "ro": ("REDIRECTEAZA",),
    "ru": ("ПЕРЕНАПРАВЛЕНИЕ", "ПЕРЕНАПР"),
    "si": ("යළියොමුව",),
    "sk": ("PRESMERUJ",),
    "sl": ("PREUSMERITEV",),
    "sq": ("RIDREJTO",),
    "sr": ("ПРЕУСМЕРИ", "PREUSMERI"),
    "sv": ("OMDIRIGERING",),
    "ta": ("வழிமாற்று",),
    "te": ("దారిమార్పు",),
    "th": ("เปลี่ยนทาง",),
    "tr": ("YÖNLENDİRME", "YÖNLENDİR"),
    "uk": ("ПЕРЕНАПРАВЛЕННЯ", "ПЕРЕСПРЯМУВАННЯ"),
    "ur": ("رجوع_مکرر",),
    "uz": ("YOʻNALTIRISH",),
    "vi": ("ĐỔI",),
    "yi": ("ווייטערפירן",),
    "zh": ("重定向", "重新導向"),
}

_WORDS = sorted({word for words in REDIRECT_WORDS.values() for word in words})
_REDIRECT = re.compile(rf"\s*+#(?:{'|'.join(map(re.escape, _WORDS))})\s*+:?\s*+\[\[:?([^\[\]|]++)", re.IGNORECASE)


def redirect_in(text: str) -> str | None:
    """The title that a text such as "#REDIRECT [[X#Section]]" leads to; None if it is no redirect."""
    found = _REDIRECT.match(text)
    return page_of(found[1]) if found else None


def page_of(target: str) -> str | None:
    """The title of the page in a link's target, its section cut off; None if only the section is left."""
    return " ".join(target.partition("#")[0].replace("_", " ").split()) or None
