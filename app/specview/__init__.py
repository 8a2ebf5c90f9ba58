"""SpecView: from the tests of an analysis to a specification that people read (docs/adr/0047)."""
