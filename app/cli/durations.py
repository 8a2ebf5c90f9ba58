"""An option whose value is a duration."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click
from pydantic import TypeAdapter, ValidationError

from app.setting_types import Duration


class DurationType(click.ParamType[timedelta]):
    """`30s`, `5m`, `24h`, `7d`, or seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read the value of an option."""
        try:
            return TypeAdapter[timedelta](Duration).validate_python(value)
        except ValidationError:
            self.fail(f"{value!r}: expected a duration such as 30s, 5m, 24h or 7d", param, ctx)
