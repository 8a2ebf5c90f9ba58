"""Pure rules: no database; Hypothesis judges results, not the speed of a busy machine."""

from hypothesis import settings

settings.register_profile("busy", deadline=None)
settings.load_profile("busy")
