"""Put the byte counts and checksums of MediaWiki exports right after their texts were edited by hand.

python samples/stamp_export.py samples/wiki/*.xml
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from html import unescape
from pathlib import Path

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_TEXT = re.compile(
    r'<text bytes="\d*" sha1="\w*" xml:space="preserve">(?P<text>[^<]*)</text>(?P<between>\s*)<sha1>\w*</sha1>'
)


def checksum(text: str) -> str:
    """The SHA-1 of a text as MediaWiki writes it: 31 digits to the base 36."""
    number = int.from_bytes(hashlib.sha1(text.encode()).digest(), "big")
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits.zfill(31)


def stamped(export: str) -> str:
    """The same export with what its texts' stamps should be."""
    return _TEXT.sub(_stamp, export)


def _stamp(match: re.Match[str]) -> str:
    text = unescape(match["text"])
    count, digest = len(text.encode()), checksum(text)
    return (
        f'<text bytes="{count}" sha1="{digest}" xml:space="preserve">{match["text"]}</text>'
        f"{match['between']}<sha1>{digest}</sha1>"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Put byte counts and checksums of MediaWiki exports right.")
    parser.add_argument("exports", metavar="EXPORT", nargs="+", type=Path, help="XML files, changed in place")
    for path in parser.parse_args(arguments).exports:
        before = path.read_text(encoding="utf-8")
        after = stamped(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
        print(f"{path}: {'stamped anew' if after != before else 'all right'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
