"""Corpora of ConvoKit to threads with gold: `build_conversations`."""

from __future__ import annotations

from entlink.datasets.conversations.build import build_conversations
from entlink.datasets.conversations.domains import Domain
from entlink.datasets.conversations.options import ConversationOptions

__all__ = ["ConversationOptions", "Domain", "build_conversations"]
