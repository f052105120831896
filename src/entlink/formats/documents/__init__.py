"""entlink's own documents: JSON lines and plain texts in, linked documents out."""

from __future__ import annotations

from entlink.formats.documents.lines import decode_document, encode_document, read_documents

__all__ = ["decode_document", "encode_document", "read_documents"]
