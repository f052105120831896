"""Scores, and what others scored."""
