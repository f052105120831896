from __future__ import annotations

import re
import sys
import unicodedata

from entlink.text.marks import MARKS


def test_the_table_holds_just_the_combining_marks():
    listed = re.compile(f"[{MARKS}]")
    marks = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Mn", "Mc")}
    table = {chr(code) for code in range(sys.maxunicode + 1) if listed.match(chr(code))}
    if unicodedata.unidata_version == "14.0.0":
        assert table == marks
    else:  # later versions of Unicode add marks; none has been taken away
        assert table <= marks
