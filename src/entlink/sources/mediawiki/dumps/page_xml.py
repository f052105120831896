"""Reads the XML of one page, whatever it looks like, with a parser."""

from __future__ import annotations

from xml.parsers import expat

from entlink.errors import FieldError
from entlink.sources.mediawiki.dumps.raw_page import PageFields

_LARGEST_BUFFER = 1 << 20
_OWNERS = {1: "page", 2: "revision", 3: "content"}  # by how deep their fields lie


def parsed_fields(data: bytes) -> PageFields:
    """The fields of a page; a FieldError when it is not well-formed."""
    xml = _PageXml()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True  # a call for every line of the text would cost more than all the rest
    parser.buffer_size = min(len(data) + 1, _LARGEST_BUFFER)
    parser.StartElementHandler, parser.EndElementHandler = xml.start, xml.end
    parser.CharacterDataHandler = xml.characters.append
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise _broken(data, error, parser.ErrorByteIndex) from error
    return xml.fields()


class _PageXml:
    """Collects what the elements of a page, of its revision and of its slots hold, the first of each name."""

    def __init__(self) -> None:
        self.characters: list[str] = []
        self._contents: dict[tuple[str, str], str] = {}
        self._attributes: dict[tuple[str, str], dict[str, str]] = {}
        self._path: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if (owner := self._owner()) and attributes:
            self._attributes.setdefault((owner, name), attributes)
        self._path.append(name)
        self.characters.clear()

    def end(self, name: str) -> None:
        self._path.pop()
        if owner := self._owner():
            self._contents.setdefault((owner, name), "".join(self.characters))
        self.characters.clear()
        if name == "content":
            self._use_slot()

    def fields(self) -> PageFields:
        get = self._contents.get
        return PageFields(
            title=get(("page", "title"), ""),
            id=get(("page", "id"), "").strip(),
            redirect=self._attributes.get(("page", "redirect"), {}).get("title", ""),
            revision=get(("revision", "id"), "").strip(),
            parent=get(("revision", "parentid"), "").strip(),
            time=get(("revision", "timestamp"), ""),
            has_contributor=("revision", "contributor") in self._contents,
            comment=get(("revision", "comment"), ""),
            model=get(("revision", "model"), ""),
            text=get(("revision", "text")),
            is_stub=self._is_stub(),
        )

    def _owner(self) -> str | None:
        """The element whose field is at hand, None in those that do not matter, such as `contributor`."""
        path = self._path
        return path[-1] if path and _OWNERS.get(len(path)) == path[-1] else None

    def _use_slot(self) -> None:
        """The main slot counts as the text of a revision that gives it in no other way."""
        slot = {name: self._contents.pop(("content", name), "") for name in ("role", "model", "text")}
        if slot["role"].strip() == "main":
            self._contents.setdefault(("revision", "model"), slot["model"])
            self._contents.setdefault(("revision", "text"), slot["text"])

    def _is_stub(self) -> bool:
        """Whether the text stands elsewhere: the element tells its id or its length, and is empty all the same."""
        attributes = self._attributes.get(("revision", "text"), {})
        if self._contents.get(("revision", "text")) or "deleted" in attributes:
            return False
        return attributes["bytes"].strip() not in ("", "0") if "bytes" in attributes else "id" in attributes


def _broken(data: bytes, error: expat.ExpatError, at: int) -> FieldError:
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        problem = f"its byte {bad.start:,}, 0x{data[bad.start]:02x}, is not valid UTF-8"
        return FieldError(problem, "Fetch the file again, or mend the page")
    return FieldError(f"its XML is broken at its byte {at:,} ({expat.ErrorString(error.code)})", "Mend the page")
