"""The engine's output for a commit, as the service stores and returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A test: framework, suites, name, line, status and more (packages/testlist/docs/frameworks.md).
Test = Mapping[str, Any]
#: What a test checks: `checks`, in order, and `subjects`, functions of the repository that it calls (docs/adr/0088).
Checked = Mapping[str, Any]
#: What one blob says by itself; only the engine reads it.
Facts = Mapping[str, Any]
