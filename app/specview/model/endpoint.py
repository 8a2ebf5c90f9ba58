"""One `/chat/completions` endpoint: a call, its time-out, and every way in which its answer is none."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext
from typing import Any

import httpx
from pydantic import SecretStr

from app.domain.canaries import Canaries
from app.specview.model.faults import CallFailed, Fault
from app.specview.model.prompts import Prompt
from app.specview.model.replies import ModelReply, read_reply, retry_after

#: Bytes of an answer; the longest that is asked for has a hundredth of it.
LARGEST_REPLY = 2 << 20
#: What only some endpoints know, and others refuse or ignore.
OPTIONS: dict[str, Any] = {"temperature": 0, "response_format": {"type": "json_object"}}
SEED = 42


@dataclass(frozen=True, slots=True)
class EndpointAccess:
    """Where the model is.

    base_url: as `https://api.example.org/v1`; seconds: of one call, to the last byte of its answer; parallel: calls.
    """

    base_url: str
    model: str
    key: SecretStr | None = None
    seconds: float = 120
    parallel: int = 10


class Endpoint:
    """One endpoint of a model; use and close it in one event loop."""

    def __init__(self, access: EndpointAccess) -> None:
        self._access = access
        self._canaries = Canaries.of({} if access.key is None else {"key": access.key.get_secret_value()})
        self._plain = False
        # No redirect is followed: it could lead the key, and what we send, to another host.  Compressed answers are
        # not taken, as a few bytes of one could fill the memory.
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            verify=_trust(),
            timeout=httpx.Timeout(access.seconds),
            limits=httpx.Limits(max_connections=access.parallel, max_keepalive_connections=access.parallel),
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "fairlane"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def complete(self, prompt: Prompt, *, attempt: int = 0) -> ModelReply:
        """Call the endpoint once.  attempt: another one than before asks for another answer.  Raises: CallFailed."""
        try:
            async with asyncio.timeout(self._access.seconds):
                return await self._complete(prompt, attempt)
        except (TimeoutError, httpx.TimeoutException):
            raise CallFailed(Fault.TIMED_OUT) from None
        except (httpx.HTTPError, httpx.InvalidURL):  # its request holds the key
            raise CallFailed(Fault.UNREACHABLE) from None

    async def _complete(self, prompt: Prompt, attempt: int) -> ModelReply:
        plain = self._plain
        try:
            return await self._post(self._body(prompt, attempt, plain=plain))
        except CallFailed as failed:
            if plain or failed.fault is not Fault.BAD_REQUEST:
                raise
        reply = await self._post(self._body(prompt, attempt, plain=True))
        self._plain = True  # and all further calls of this run
        return reply

    def _body(self, prompt: Prompt, attempt: int, *, plain: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._access.model, "messages": prompt.messages}
        return body if plain else body | OPTIONS | {"seed": SEED + attempt, "max_tokens": prompt.output(attempt)}

    async def _post(self, body: dict[str, Any]) -> ModelReply:
        key = self._access.key
        headers = {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}
        url = f"{self._access.base_url}/chat/completions"
        async with self._client.stream("POST", url, json=body, headers=headers) as response:
            if response.status_code != httpx.codes.OK:
                raise _refusal(response)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise CallFailed(Fault.NO_JSON)
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LARGEST_REPLY:
                    raise CallFailed(Fault.TOO_LARGE)
        return read_reply(bytes(content), body, self._canaries)


@cache
def _trust() -> SSLContext:
    """Reading all authorities takes longer than a call of a local model."""
    return httpx.create_ssl_context()


def _refusal(response: httpx.Response) -> CallFailed:
    """The meaning of a status; the body, which may repeat what we sent, is not looked at."""
    status = response.status_code
    if status == httpx.codes.TOO_MANY_REQUESTS or (status == httpx.codes.SERVICE_UNAVAILABLE and retry_after(response)):
        return CallFailed(Fault.TOO_FAST, wait=retry_after(response))
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.PAYMENT_REQUIRED}:
        return CallFailed(Fault.NOT_ALLOWED)
    if status == httpx.codes.NOT_FOUND:
        return CallFailed(Fault.NOT_FOUND)
    if status in {httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY}:
        return CallFailed(Fault.BAD_REQUEST)
    return CallFailed(Fault.REDIRECTED if response.is_redirect else Fault.SERVER_FAILED)
