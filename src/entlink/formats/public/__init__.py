"""Public formats of documents with gold or links: `PUBLIC_FORMATS`, each with `read` and perhaps `write`."""

from __future__ import annotations

from entlink.formats.public.catalogue import PUBLIC_FORMATS, PublicFormat, public_format, tell_format

__all__ = ["PUBLIC_FORMATS", "PublicFormat", "public_format", "tell_format"]
