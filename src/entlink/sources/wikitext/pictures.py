"""Pictures: [[File:…]] and galleries, with their captions taken out of the running text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from entlink.sources.wikitext.arguments import split_arguments
from entlink.sources.wikitext.blanks import words
from entlink.sources.wikitext.findings import Findings
from entlink.sources.wikitext.literals import show
from entlink.sources.wikitext.seams import close_seams
from entlink.sources.wikitext.site import FILE
from entlink.sources.wikitext.titles import Titles

_BRACKETS = re.compile(r"\[\[|\]\]")


class Pictures:
    """Takes the pictures out of the texts of one site."""

    def __init__(self, titles: Titles) -> None:
        self._titles = titles
        names = "|".join(re.escape(name).replace(r"\ ", "[ _]") for name in titles.names_of(FILE))
        self._opening = re.compile(rf"\[\[[ _]*(?i:{names})[ _]*:")
        self._prefix = re.compile(rf"[ _]*(?i:{names})[ _]*:")

    def take_out(self, text: str, findings: Findings) -> str:
        """The text without its pictures, which go to the findings."""
        opening = self._opening.search(text)
        if opening is None:
            return text
        kept, position = [], 0
        while opening is not None:
            kept.append(text[position : opening.start()])
            rest, position = self._take(text, opening.start(), findings)
            kept.append(rest)
            opening = self._opening.search(text, position)
        kept.append(text[position:])
        return "".join(kept)

    def _take(self, text: str, start: int, findings: Findings) -> tuple[str, int]:
        """Reads on from a picture's opening to its end: what is left of it as text, and where it ends."""
        end = text.find("]]", start)
        if end >= 0 and text.find("[[", start + 2, end) < 0:
            is_picture = self._note(text[start + 2 : end], findings)
            return "" if is_picture else text[start : end + 2], end + 2
        parts: list[str] = []
        opened: list[int] = []
        position = start
        for bracket in _BRACKETS.finditer(text, start):
            parts.append(text[position : bracket.start()])
            position = bracket.end()
            if bracket[0] == "[[":
                opened.append(len(parts))
                parts.append("[[")
                continue
            first = opened.pop()
            if self._prefix.match(parts[first + 1]) and self._note("".join(parts[first + 1 :]), findings):
                del parts[first:]
            else:
                parts.append("]]")
            if not opened:
                return "".join(parts), position
        return "".join(parts) + text[position:], len(text)

    def _note(self, inside: str, findings: Findings) -> bool:
        """Takes down a picture; false for one whose name is illegal, which is none."""
        name, *arguments = split_arguments(close_seams(inside))
        target = self._titles.resolve(show(name))
        if target.kind != "picture":
            return False
        caption = next((argument for argument in reversed(arguments) if not is_option(argument)), "")
        findings.picture(target.title, caption.strip())
        return True

    def of_gallery(self, gallery: str) -> Iterator[str]:
        """The lines of a gallery as links to their pictures."""
        for line in gallery.split("\n"):
            line = line.strip()
            if line:
                yield f"[[{line}]]" if self._prefix.match(line) else f"[[File:{line}]]"


WORDS = frozenset(
    words(
        """
        thumb thumbnail frame framed frameless enframed border right left center centre none upright
        baseline sub super sup top text-top middle bottom text-bottom nocaption noicon loop muted
        mini miniatur gerahmt rahmenlos rahmen rand rechts links zentriert ohne hochkant
        vignette redresse cadre sans_cadre bordure droite gauche centré néant encadré
        miniaturadeimagen miniatura miniaturimagen mini derecha izquierda centrado centro no borde marco
        sinmarco enmarcado
        destra sinistra centro nessuno incorniciato riquadrato senza_cornice bordo verticale
        miniaturadaimagem direita esquerda nenhum semmoldura comborda
        мини миниатюра справа слева центр центрировано обрамить безрамки граница без
        міні мініатюра праворуч ліворуч
        дясно вдясно ляво вляво център рамка
        mały prawo lewo centruj brak ramka bezramki
        miniatuur rechts links gecentreerd geen omkaderd
        náhled vpravo vlevo střed rám
        miniatyr höger vänster centrerad ingen ram
        bélyegkép jobb bal közép keret
        küçükresim sağ sol orta yok
        サムネイル サムネール 右 左 中央 なし フレーム
        缩略图 縮圖 缩图 有框 无框 無框 居中 置中 无 無 边框 邊框
        섬네일 썸네일 오른쪽 왼쪽 가운데 없음
        تصغير مصغر يمين يسار مركز إطار
        بندانگشتی چپ راست وسط هیچ
        ממוזער ימין שמאל מרכז ללא
        """
    )
)
KEYS = frozenset(
    words(
        """
        alt link class lang page upright thumb thumbnail frame manualthumb start end thumbtime thumbnail_height
        disp style
        width height size
        alternativtext verweis klasse sprache seite hochkant miniatur
        lien langue redresse classe vignette enlace vínculo página ligação alternativa collegamento
        альт ссылка посилання връзка мини міні odkaz länk koppeling
        替代文本 替代文字 链接 連結 代替文 リンク 대체글 링크
        بديل وصلة پیوند קישור
        """
    )
)
_UNIT = "px|пкс|пикс|像素|픽셀|بك"
_SIZE = re.compile(rf"(?:[0-9]+|[0-9]*\s*x\s*[0-9]+)\s*(?:{_UNIT})(?:px)?")


def is_option(argument: str) -> bool:
    """Whether an argument of a picture is no caption."""
    argument = argument.strip().lower()
    if argument in WORDS or not argument:
        return True
    key, sign, _ = argument.partition("=")
    if sign and key.rstrip() in KEYS:
        return True
    return argument[0] in "0123456789x" and _SIZE.fullmatch(argument) is not None
