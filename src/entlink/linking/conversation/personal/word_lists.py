"""English words that tell where a personal phrase ends, and what kind of thing it speaks of."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FAVOURITE = re.compile(r"fav(?:s|e|es|orites?|ourites?|orates?|ourates?|ourts?|roites?)?|favou?r\w{1,6}")
# What follows `my` in an exclamation.
EXCLAIMED = _words(
    """
    god gosh goodness lord word oh that bad gawd
    """
)
PREPOSITIONS = _words(
    """
    of in on at for from to with by about into over after before since until during than like as near around
    without through against under between among
    """
)
LINKING_WORDS = _words(
    """
    is are was were be been being has have had do does did will would can could should may might must isn't
    aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't hasn't haven't hadn't
    """
)
CONJUNCTIONS = _words(
    """
    and or but so because if when while that which who whom where why how though although
    """
)
PRONOUNS = _words(
    """
    i you he she it we they me him her us them this these those there what i'm i've i'd i'll it's he's she's
    they're we're you're that's mine yours
    """
)
DETERMINERS = _words(
    """
    the a an my our your his their its some any all every each no
    """
)
ADVERBS = _words(
    """
    too also now just really very always never ever even still again then here not only so well though actually
    probably definitely usually often sometimes once much more most lately recently today yesterday tonight
    together almost already yet soon later maybe however anyway lol haha because before
    """
)
MODIFIERS = _words(
    """
    own first second third last next old new best least most very all other whole entire personal absolute
    biggest younger older youngest oldest little big two three four few many ultimate go current original main
    """
)
# In the form that others are made from; many are nouns too, so that they count for less than the words above.
VERBS = _words(
    """
    accept act add agree allow appear arrive ask bake bark become began begin believe bite bought bring brought build
    buy call came care carry catch caught change chase choose clean climb collect come cook cost cry cut dance decide
    describe die dislike draw drink drive drove eat end enjoy fall feed feel felt fight find fish fit fix fly follow
    forget forgot found gave get give go going gone got grew grow happen hate hear help hit hold hope hurt include
    invite join jump keep kept kick kill knew know land last laugh learn leave left let like listen live look lose
    lost love made make mean meet met miss move need open own paint pass pay pick plan play prefer pull push put quit
    ran reach read recommend refuse remember ride rode run said sail sat saw say see seem sell send serve shop show
    sing sit sleep smell snow sold speak spend spent stand start stay stop study suggest swim take talk taste taught
    teach tell tend thank think thought threw told took touch train travel tried try turn understand use visit wait
    walk want wash watch wear weigh went win wish won wonder work worry write wrote
    """
)
# What is seldom said by name in a conversation: people that belong to the speaker, and what is a part of a person.
RELATIVES = _words(
    """
    mom mum mother dad father parent wife husband hubby spouse son daughter kid child boy girl baby brother
    sister sibling family friend girlfriend boyfriend ex uncle aunt cousin nephew niece grandma grandmother
    grandpa grandfather grandparent grandson granddaughter roommate boss neighbor neighbour coworker colleague
    doctor partner fiance fiancee
    """
)
PERSONAL_PARTS = _words(
    """
    mind head heart body skin hair beard face eye hand arm leg back stomach life time opinion thought thing self
    understanding experience memory way day house home room kitchen yard garden bed job work style age weight
    health knowledge attention interest mood part turn own choice point question guess idea favor
    """
)
