"""Wikitext from bytes: each byte stands for a piece of markup, so that a fuzzer joins pieces and not characters."""

from __future__ import annotations

# Pieces stand between blanks; one that has a blank of its own has an underscore for it here.
_SPACED = (
    "{{convert|1|km|mi}} {{convert| {{flag|DEU}} {{ship|HMS| {{birth_date|1| {{nowrap| {{val| {{ubl| {{ill|",
    "{{disambig}} {{multiple_image|image1=a|caption1= {{hlist|a|b {| |} |- | || ! !! |+ {|class= colspan=2|",
    "< > <br> <br/> </ <b> </b> <ref> </ref> <ref/> <ref_name=a> <nowiki> </nowiki> <nowiki/> <pre> </pre> <gallery>",
    "</gallery> <math> </math> <li> </li> <div> </div> <td> <includeonly> </includeonly> <noinclude> <!-- --> <!-",
    "<poem> <REF> <references/> <section_end=a_/> 10_km",
)
_PLAIN = (
    "[ ] [[ ]] [[a]] [[a| [[a|b]] [[:a]] [[| |]] [[#s]] [[File: [[Image:a.png|thumb| [[Category: [[de: [[w:",
    "[[%41 ]]] { } {{ }} {{{ }}} {{a}} {{a|b}} {{{1|b}}} {{!}} {{=}} {{'}} {{#if: {{formatnum: {{lc:",
    "{{subst: {{lang|de| * # : ; = == ---- - -{ }- -{zh-hans: ;zh-hant: -{H| -{}- ' '' ''' '''' '''''",
    "& &amp; &lt; &gt; &nbsp; &#91; &#93; &#123; &#124; &#x27; &#10; &#0; &#55296; &#1114112; &amp;amp; &# &#x &a;",
    "&NotEqualTilde; &#173; &lsqb; ~ ~~~ _ __ __TOC__ __NOTOC__ __目次__ http:// [http:// [//a [mailto: https://a.b/c",
    'a b A Z 0 7 . , ( ) （ ） / % %5B %7C %20 %2541 " px 20px x thumb right alt= name= File: Category: Image: de:',
    "en: wikt: Talk: Template: File :a é ß İ ŉ ﬁ ж 東京 京 ไทย 한 ع א देव 😀 𝐀 \U0002a6d6",
    "\u0301 \u200e \u200b \u00ad \u3000 \u2028 \u00a0 \u1680 \ufffd \ufeff",
    "\x00 \x01 \x07 \x0b \x0c \x10 \x16 \x17 \x1f \x7f \x85",
)
_BLANKS = ("s", "ss", "n", "nn", "t", "r", "rn", "sn", "ns", "n*", "n|", "n|-n", "n{|n", "n|}n", "n==")


_WRITTEN = str.maketrans("sntr", " \n\t\r")

PIECES: tuple[str, ...] = (
    *(blank.translate(_WRITTEN) for blank in _BLANKS),
    *(piece.replace("_", " ") for line in _SPACED for piece in line.split(" ")),
    *(piece for line in _PLAIN for piece in line.split(" ")),
)


def wikitext_of(data: bytes) -> str:
    """The pieces that the bytes stand for, joined."""
    return "".join([PIECES[byte % len(PIECES)] for byte in data])
