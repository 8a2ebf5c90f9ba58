"""Answers about batches."""

from __future__ import annotations

from app.web.core.shapes import ProblemShape, Shape
from app.web.jobs.shapes import JobShape


class BatchItemShape(Shape):
    """One answer of a batch.  status: as POST /analyses would have answered; with a job or a problem."""

    index: int
    status: int
    job: JobShape | None = None
    problem: ProblemShape | None = None


class BatchShape(Shape):
    """The items, in the order of the request."""

    items: list[BatchItemShape]
