"""Specifications: what turns the tests of an analysis into a document that people read (docs/adr/0047)."""
