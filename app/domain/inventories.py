"""What the engine writes of a commit, as the service keeps it and hands it on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A test: framework, suites, name, line, status and more (docs/frameworks.md).
Test = Mapping[str, Any]
#: What one blob says by itself; only the engine reads it.
Facts = Mapping[str, Any]
