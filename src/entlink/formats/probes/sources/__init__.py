"""Readers of what probing tasks are built from: PreCo, ConceptNet, Ultra-Fine, KORE, rare entities."""
