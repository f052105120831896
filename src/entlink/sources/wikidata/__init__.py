"""Items of Wikidata: its JSON dumps, answers of its API, and files of single items."""
