"""Settings chosen on a development set: how retrievers are fused, what each kind of evidence weighs."""
