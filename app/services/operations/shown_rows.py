"""Rows that are shown to an operator as they were found."""

from __future__ import annotations

from collections.abc import Mapping

#: Values by column; the columns depend on the statement that found the row.
ShownRow = Mapping[str, object]
