"""What a text must be to become a field of an entity, wherever it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from entlink.errors import FieldError

MAX_FIELD = 50_000_000  # bytes


def check_text(value: object) -> None:
    """An error when a text in the value holds a NUL or is too large to be a field."""
    for text in _texts(value):
        if "\x00" in text:
            raise FieldError(f"holds a NUL character, the {text.index(chr(0)) + 1}. of its text")
        # Four bytes is the most a character takes: most texts need not be encoded to be measured.
        if len(text) * 4 > MAX_FIELD and len(text.encode()) > MAX_FIELD:
            raise FieldError(
                f"holds {len(text.encode()):,} bytes, over the limit of {MAX_FIELD:,}",
                "Shorten the field, or leave out the record",
            )


def check_texts(values: Mapping[str, object], kind: str = "field") -> None:
    """`check_text` for each value; an error names the one that is bad."""
    for name, value in values.items():
        try:
            check_text(value)
        except FieldError as error:
            raise error.of(kind, name) from None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
