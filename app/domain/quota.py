"""The quota check: used + reserved + requested <= limit (docs/adr/0005)."""

from __future__ import annotations

from dataclasses import dataclass

WARN, DANGER, SPENT = 0.70, 0.90, 1.0


@dataclass(frozen=True, slots=True)
class Usage:
    """Units in one period.  limit None = unlimited."""

    used: int
    reserved: int
    limit: int | None

    @property
    def free(self) -> int | None:
        """Units that may still be requested; None = unlimited."""
        return None if self.limit is None else max(0, self.limit - self.used - self.reserved)

    def admits(self, requested: int) -> bool:
        """Whether `requested` further units stay within the limit; equality is allowed.

        What costs nothing is admitted even if a downgrade has left more used than the limit.
        """
        return requested == 0 or self.limit is None or self.used + self.reserved + requested <= self.limit

    @property
    def level(self) -> str:
        """`ok`, `warn` (70 %), `danger` (90 %) or `spent`, by used units, as reserved ones may be returned."""
        if self.limit is None:
            return "ok"
        share = self.used / self.limit if self.limit else SPENT
        return "spent" if share >= SPENT else "danger" if share >= DANGER else "warn" if share >= WARN else "ok"
