"""Vectors of words and entities in one space, trained on the texts and links of a knowledge base."""
