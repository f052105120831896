"""Files with parts struck out or put in: what is raised is ours, and what is read has spans that fit."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_public_formats import SAMPLES, content_of

from entlink.documents import Document
from entlink.errors import InputError
from entlink.formats.public.catalogue import PUBLIC_FORMATS

EXCHANGED = ("blink", "aida", "nif", "neleval")
CASES = [case for case in SAMPLES if case[0] in EXCHANGED or case[0].endswith("-output")]
PUT_IN = (
    *(b"null", b"-1", b"1e999", b"9" * 5000, b'""', b"[]", b"{}", b"true", b"NaN", b"NIL", b"\\ud800"),
    *(b"\t", b"\n", b"\r", b"\xff", b" ", b"{", b"}", b"[", b"]", b'"', b"0", b"I\t", b"B\t", b" } [ "),
)


@st.composite
def mangled(draw, case: tuple[str, str]) -> bytes:
    content = content_of(*case) * draw(st.integers(1, 2))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from([0, 0, 1, 2, 5])))
        content = content[:start] + draw(st.sampled_from(PUT_IN)) + content[end:]
    return content


def check(document: Document) -> None:
    spans = [gold.span for gold in document.gold] + [link.mention.span for link in document.links]
    size = len(document.text) if "lacks" not in document.meta else 10**16
    assert all(0 <= span.start < span.end <= size for span in spans)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_mangled_file(case, data):
    each, content = PUBLIC_FORMATS[case[0]], data.draw(mangled(case))
    each.looks_like(Path("x"), content)
    problems: list[InputError] = []
    for document in each.read(io.BytesIO(content), on_error="skip", on_problem=problems.append):
        check(document)
    try:
        for document in each.read(io.BytesIO(content)):
            check(document)
    except InputError as error:
        assert str(error) == str(problems[0])
    else:
        assert not problems
