"""Personal mentions: what a speaker calls "my favourite singer", found and resolved to what the speaker said."""
