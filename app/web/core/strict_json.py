"""Parse JSON strictly: text outside of the grammar is refused, and no input can break the parser."""

from __future__ import annotations

import json
from typing import Any

from flask.json.provider import DefaultJSONProvider


class StrictJson(DefaultJSONProvider):
    """JSON without NaN and Infinity; too deep nesting is bad input, not our failure."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """Parse JSON strictly.  Raises: ValueError, which Flask answers with 400."""
        try:
            return json.loads(s, parse_constant=_refused, **kwargs)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
