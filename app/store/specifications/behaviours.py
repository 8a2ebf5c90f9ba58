"""Behaviours as the rows of `spec_features` store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.specification import Behaviour, Subject


def to_json(behaviour: Behaviour) -> dict[str, Any]:
    """An object of `spec_features.behaviours`; fell_back is present only if it is true."""
    subject = behaviour.subject
    row: dict[str, Any] = {
        "sentence": behaviour.sentence,
        "status": subject.status,
        "file": subject.file,
        "line": subject.line,
        "framework": subject.framework,
        "suites": list(subject.suites),
        "name": subject.name,
    }
    return {**row, "fell_back": True} if behaviour.fell_back else row


def of_json(row: Mapping[str, Any]) -> Behaviour:
    """A behaviour from such an object."""
    subject = Subject(row["file"], row["framework"], tuple(row["suites"]), row["name"], row["line"], row["status"])
    return Behaviour(subject, row["sentence"], row.get("fell_back", False))
