"""What clients get of specifications: shapes of the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from app.domain.specification import Specification
from app.web.core.answers import Job, QuotaAnswer, Shape


class SpecificationJob(Job):
    """A request to write a specification, and its state.

    version: 1, 2, … per user, analysis and language; units: the billed ones.
    """

    analysis_id: UUID
    language: str
    mode: Literal["initial", "regenerate_cached", "regenerate_fresh"]
    generator: str | None
    version: int | None
    units: int | None


class SpecificationPrice(QuotaAnswer):
    """The answer to a dry run.  tests, subtests: of the analysis; units: as amount."""

    dry_run: Literal[True]
    tests: int
    subtests: int
    units: int


class SpecificationJobs(Shape):
    """Completed specifications, newest first."""

    items: list[SpecificationJob]


class BehaviourShape(Shape):
    """One sentence about one test.

    fell_back: written by the built-in generator, because the model failed; free of charge.
    """

    sentence: str
    status: str
    file: str
    line: int
    framework: str
    suites: list[str]
    name: str
    fell_back: bool


class FeatureShape(Shape):
    """A group of related behaviours in a domain; the name is empty if nothing groups them."""

    name: str
    behaviours: list[BehaviourShape]


class DomainShape(Shape):
    """A part of the product; the name is empty if nothing groups its features."""

    name: str
    features: list[FeatureShape]


class DocumentShape(Shape):
    """A specification in reading order."""

    language: str
    summary: str
    domains: list[DomainShape]


class SpecificationWithDocument(SpecificationJob):
    """document: null until it has completed."""

    document: DocumentShape | None


class Share(Shape):
    """A link that shares a specification."""

    secret: str
    page: str


def document(whole: Specification) -> dict[str, Any]:
    """Returns a DocumentShape."""
    return {
        "language": whole.language,
        "summary": whole.summary,
        "domains": [
            {
                "name": domain.name,
                "features": [
                    {
                        "name": feature.name,
                        "behaviours": [
                            {
                                "sentence": one.sentence,
                                "status": one.subject.status,
                                "file": one.subject.file,
                                "line": one.subject.line,
                                "framework": one.subject.framework,
                                "suites": list(one.subject.suites),
                                "name": one.subject.name,
                                "fell_back": one.fell_back,
                            }
                            for one in feature.behaviours
                        ],
                    }
                    for feature in domain.features
                ],
            }
            for domain in whole.domains
        ],
    }
