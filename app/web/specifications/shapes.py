"""Answers about specifications."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from app.web.accounts.shapes import QuotaShape
from app.web.core.shapes import Shape
from app.web.jobs.shapes import JobShape


class SpecificationJobShape(JobShape):
    """A request to write a specification, and its state.

    version: 1, 2, … per user, analysis and language; units: the billed ones.
    """

    analysis_id: UUID
    language: str
    mode: Literal["initial", "regenerate_cached", "regenerate_fresh"]
    generator: str | None
    version: int | None
    units: int | None


class SpecificationPriceShape(QuotaShape):
    """The answer to a dry run.  tests, subtests: of the analysis; units: as amount."""

    dry_run: Literal[True]
    tests: int
    subtests: int
    units: int


class SpecificationJobsShape(Shape):
    """Completed specifications, newest first."""

    items: list[SpecificationJobShape]


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


class SpecificationWithDocumentShape(SpecificationJobShape):
    """A specification's job with its document, which is null until the job has completed."""

    document: DocumentShape | None


class ShareShape(Shape):
    """A link that shares a specification."""

    secret: str
    page: str
