"""Words that several entities share, and what the text around them says of which is meant."""
