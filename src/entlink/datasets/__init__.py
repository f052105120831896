"""Corpora made from sources: documents with gold links, to train on and to measure with."""
