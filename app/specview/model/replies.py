"""Answers of an endpoint: the text of a completion and what it took, read without trust."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import BaseModel, Field, ValidationError

from app.domain.canaries import Canaries
from app.domain.model_calls import Tokens
from app.specview.model.chunks import estimate
from app.specview.model.faults import CallFailed, Fault

#: Of a Retry-After; longer is no wait but an outage.
LONGEST_WAIT_SECONDS = 3600.0
#: More than any model counts for one call: an endpoint that reports more is not believed.
MOST_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True)
class ModelReply:
    """An answer of the endpoint.  text: of the model; used: as the endpoint counts, or estimated if it does not."""

    text: str
    used: Tokens


class _Message(BaseModel):
    content: str | None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0, le=MOST_TOKENS)
    completion_tokens: int = Field(ge=0, le=MOST_TOKENS)


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


def read_reply(content: bytes, request: dict[str, Any], canaries: Canaries) -> ModelReply:
    """The first choice.  Raises: CallFailed no_json, bad_answer, cut_off, held_key."""
    try:
        completion = _Completion.model_validate_json(content)
    except ValidationError:  # it shows what was sent
        raise CallFailed(Fault.NO_JSON) from None
    choice = completion.choices[0]
    text = choice.message.content
    if text is None:  # the model declined, or a filter of the endpoint did
        raise CallFailed(Fault.BAD_ANSWER)
    if canaries.found(text):
        raise CallFailed(Fault.HELD_KEY)
    if choice.finish_reason == "length":
        raise CallFailed(Fault.CUT_OFF)
    try:
        usage = _Usage.model_validate(completion.usage)
        used = Tokens(usage.prompt_tokens, usage.completion_tokens)
    except ValidationError:
        used = Tokens(estimate(json.dumps(request["messages"], ensure_ascii=False)), estimate(text))
    return ModelReply(text, used)


def retry_after(response: httpx.Response) -> float:
    """Seconds of the header, as a number or as a date; 0 without a sensible one."""
    raw = response.headers.get("retry-after", "")
    try:
        seconds = float(raw)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(raw) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return 0.0
    return min(LONGEST_WAIT_SECONDS, max(0.0, seconds)) if math.isfinite(seconds) else 0.0
