"""Encoders that read words by their characters and run over them in both directions, as ELMo and EntELMo do."""
