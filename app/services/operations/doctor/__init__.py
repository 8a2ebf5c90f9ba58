"""Look for everything that is known to go wrong, say what it means, and mend what can be mended (docs/adr/0083)."""

from app.services.operations.doctor.check import Check, Diagnosis, Instruments
from app.services.operations.doctor.examine import CHECKS, examine

__all__ = ["CHECKS", "Check", "Diagnosis", "Instruments", "examine"]
