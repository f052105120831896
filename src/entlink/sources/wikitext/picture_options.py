"""The arguments of a picture that say how it is set: size, side, frame. What is none of them is its caption."""

from __future__ import annotations

import re

from entlink.sources.wikitext.words import words

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
