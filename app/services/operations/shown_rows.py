"""Rows that an operator is shown as they were found."""

from __future__ import annotations

from collections.abc import Mapping

#: By column; which columns there are depends on the statement that found the row.
ShownRow = Mapping[str, object]
