"""gunicorn's own lines, in the form and the place of all others."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger as GunicornLogger

from app import logs
from app.settings import load

STDERR = "-"


class Logger(GunicornLogger):  # type: ignore[misc]  # gunicorn has no types
    """Hands the lines on to our formatter, unless a file was named for them."""

    def setup(self, cfg: Any) -> None:
        """Set up again with other settings, too."""
        super().setup(cfg)
        if cfg.errorlog == STDERR:
            logs.configure(load().log_format)
            self.error_log.removeHandler(self._get_gunicorn_handler(self.error_log))
            self.error_log.propagate = True
