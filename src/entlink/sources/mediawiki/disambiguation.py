"""Disambiguation pages: how they are told from articles, and what their name may mean."""

from __future__ import annotations

import re

from entlink.sources.page import Meanings
from entlink.sources.wikitext import Wikitext

# The templates that mark such pages on larger wikis; the magic word __DISAMBIG__ and the table page_props are exact.
_TEMPLATES = """
Dab Disamb Disambig Disambiguation Disambiguation_page Disambig-cleanup Disambiguation_cleanup Disam Disamb-cat
Geodis Hndis Hndisambig Human_name_disambiguation Letter-number_combination_disambiguation Numberdis Roaddis
Schooldis Hospitaldis Airport_disambiguation Callsigndis Mathematical_disambiguation Mathdab Mountainindex
Place_name_disambiguation Chemical_disambiguation Ship_index Shipindex
Begriffsklärung Homonymie Homonymes Patronymie Toponymie Desambiguación Disambigua Desambiguação Неоднозначность
Многозначность Пояснение Doorverwijspagina Dp Ujednoznacznienie Förgrening Gren Rozcestník Rozlišovací_stránka
Egyértelmű Täsmennyssivu Flertydig Anlam_ayrımı
消歧义 消歧義 消歧義頁 消歧义页 Aimai 曖昧さ回避 동음이의 동음이의어
توضيح ابهام‌زدایی פירושונים Багатозначність Вишезначна_одредница Razdvojba Dezambiguizare Αποσαφήνιση
"""
_NAMES = frozenset(name.replace("_", " ") for name in _TEMPLATES.split())
_IN_TITLE = re.compile(
    r"\s*[(（](?:disambiguation|Begriffsklärung|homonymie|desambiguación|disambigua|desambiguação|значения|"
    r"doorverwijspagina|ujednoznacznienie|olika betydelser|消歧义|消歧義|曖昧さ回避|пояснение)[)）]$",
    re.IGNORECASE,
)


def is_disambiguation(title: str, page: Wikitext) -> bool:
    """Whether the page says of itself that it only tells what its name may mean."""
    return "DISAMBIG" in page.switches or not page.templates.isdisjoint(_NAMES) or _IN_TITLE.search(title) is not None


def meanings(title: str, page: Wikitext) -> Meanings:
    """The first link of each item of a list: what follows it only describes it."""
    items = (paragraph for paragraph in page.paragraphs if paragraph.kind == "item" and paragraph.links)
    return Meanings(title, _IN_TITLE.sub("", title), tuple(dict.fromkeys(item.links[0].target for item in items)))
