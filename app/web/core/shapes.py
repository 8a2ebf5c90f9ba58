"""The base of what clients get.  Members may be added, so clients must accept unknown ones.

A value of a service whose members are those of an answer is the answer: a list names its class, and an answer of its
own is a Whole of it.  A Shape is written where an answer has other members than any value.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, RootModel

T = TypeVar("T")


class Shape(BaseModel):
    """An object of the API, from a dict or from an object with such attributes."""

    model_config = ConfigDict(extra="allow", from_attributes=True)


class Whole(RootModel[T]):
    """A value of a service as a whole answer."""


class ProblemShape(Shape):
    """A problem as RFC 9457 defines it."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
