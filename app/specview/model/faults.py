"""Why a call of the model gave nothing, in fixed words: text from an endpoint is never part of an error."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """A stable code; FAULTS has its sentence."""

    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    REDIRECTED = "redirected"
    NOT_ALLOWED = "not_allowed"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    TOO_FAST = "too_fast"
    SERVER_FAILED = "server_failed"
    NO_JSON = "no_json"
    TOO_LARGE = "too_large"
    CUT_OFF = "cut_off"
    HELD_KEY = "held_key"
    BAD_ANSWER = "bad_answer"
    OUTAGE = "outage"
    TOKENS_PER_SPEC = "tokens_per_spec"
    TOKENS_PER_DAY = "tokens_per_day"
    COST_PER_DAY = "cost_per_day"
    SHARE_OF_DAY = "share_of_day"


#: For operators, each as the end of "the language model …".
FAULTS = {
    Fault.TIMED_OUT: "did not answer within LLM_TIMEOUT",
    Fault.UNREACHABLE: "cannot be reached at LLM_BASE_URL",
    Fault.REDIRECTED: "answered with a redirect, which is not followed; set LLM_BASE_URL to its target",
    Fault.NOT_ALLOWED: "refused LLM_API_KEY, or has no credit for it",
    Fault.NOT_FOUND: "is not at LLM_BASE_URL, or has no LLM_MODEL of that name",
    Fault.BAD_REQUEST: "refused the request as not valid",
    Fault.TOO_FAST: "wants fewer requests; lower LLM_REQUESTS_PER_MINUTE or LLM_PARALLEL",
    Fault.SERVER_FAILED: "answered with an error of its own",
    Fault.NO_JSON: "answered with something other than a completion, for instance an error page",
    Fault.TOO_LARGE: "sent a longer answer than is ever requested",
    Fault.CUT_OFF: "did not finish its answer",
    Fault.HELD_KEY: "repeated LLM_API_KEY in its answer",
    Fault.BAD_ANSWER: "gave answers that do not fit the tests",
    Fault.OUTAGE: "has failed for several minutes",
    Fault.TOKENS_PER_SPEC: "got no more calls: LLM_TOKENS_PER_SPEC is reached",
    Fault.TOKENS_PER_DAY: "got no more calls: LLM_TOKENS_PER_DAY is reached",
    Fault.COST_PER_DAY: "got no more calls: LLM_COST_PER_DAY is reached",
    Fault.SHARE_OF_DAY: "got no more calls from this account: it has used LLM_SHARE_PER_ACCOUNT of the day",
}
#: Trying again within the same run cannot help.
LASTING = {
    Fault.REDIRECTED, Fault.NOT_ALLOWED, Fault.NOT_FOUND, Fault.OUTAGE, Fault.TOKENS_PER_SPEC, Fault.TOKENS_PER_DAY,
    Fault.COST_PER_DAY, Fault.SHARE_OF_DAY,
}  # fmt: skip
#: The endpoint answered, so it is not counted as one that fails.
ANSWERED = {Fault.CUT_OFF, Fault.HELD_KEY, Fault.BAD_ANSWER, Fault.BAD_REQUEST}
#: No model has read the request; what else fails may be billed, and counts with its estimate.
UNBILLED = {
    Fault.UNREACHABLE, Fault.REDIRECTED, Fault.NOT_ALLOWED, Fault.NOT_FOUND, Fault.BAD_REQUEST, Fault.TOO_FAST,
}  # fmt: skip


class CallFailed(Exception):  # noqa: N818 - an outcome that each caller expects
    """A call gave nothing.  wait: seconds that the endpoint asked for."""

    def __init__(self, fault: Fault, *, wait: float = 0) -> None:
        super().__init__(f"the language model {FAULTS[fault]}")
        self.fault = fault
        self.wait = wait

    @property
    def lasting(self) -> bool:
        """Whether further calls of this run are in vain."""
        return self.fault in LASTING
