"""What people call their own: pets, places, bands and cars."""

from __future__ import annotations

from knowledge_bases import article

THINGS = [
    article("poodle", "Poodle", "The poodle is a breed of dog with curly hair."),
    article("siamese", "Siamese", "The Siamese is a breed of cat from Thailand."),
    article("lisbon", "Lisbon", "Lisbon is the capital city of Portugal.", types=["city"]),
    article("oslo", "Oslo", "Oslo is the capital city of Norway.", types=["city"]),
    article("abba", "ABBA", "ABBA was a pop band from Sweden.", types=["band"]),
    article("adele", "Adele", "Adele is an English singer and songwriter.", types=["singer"]),
    article("fiat", "Fiat", "Fiat is a maker of cars in Italy."),
    article("chess", "Chess", "Chess is a game for two players."),
    article("fair-lady", "My Fair Lady", "My Fair Lady is a musical."),
    article("dog", "Dog", "The dog is an animal that lives with people."),
]
