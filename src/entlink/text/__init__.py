"""Characters: names to keys, spans, dates, short forms and plurals. It knows of no file and no knowledge base."""
