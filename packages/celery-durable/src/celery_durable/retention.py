"""Dead letters do not stay for ever: any node drops those that are too old, some at a time."""

import logging
from random import uniform
from time import monotonic

from .names import BATCH
from .options import Options
from .session import Session
from .statements import Statements

logger = logging.getLogger(__name__)

#: Between two looks of a node: while there are more of them, and otherwise.
LOOK_SECONDS = (1.0, 600.0)


class Retention:
    """A node's part in it."""

    def __init__(self, options: Options, sql: Statements) -> None:
        self.look_at = monotonic() + uniform(0.05, 0.1) * LOOK_SECONDS[1]  # noqa: S311  not all nodes at once
        self._days, self._sql = options.dead_letter_days, sql

    def serve(self, session: Session) -> None:
        """The retention's part in a node's step.  Raises one of SERVER_ERRORS."""
        now = monotonic()
        if self._days is None or now < self.look_at:
            return
        self.look_at = now + LOOK_SECONDS[0]
        [(gone,)] = session.run(self._sql.expire_dead, {"days": self._days})
        if gone:
            logger.warning("event=dead_letters_expired letters=%d days=%g", gone, self._days)
        if gone < BATCH:
            self.look_at = now + uniform(1, 1.5) * LOOK_SECONDS[1]  # noqa: S311
