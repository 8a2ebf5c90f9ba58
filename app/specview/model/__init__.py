"""The generator that asks a language model, with another generator as its net (docs/adr/0048)."""
