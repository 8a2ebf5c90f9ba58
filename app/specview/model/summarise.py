"""The third phase: what the whole is about."""

from __future__ import annotations

from collections.abc import Sequence

from app.specview.model import prompts
from app.specview.model.answers import read_summary
from app.specview.model.calls import Calls


async def summarise(calls: Calls, domains: Sequence[tuple[str, Sequence[str]]], language: str) -> str | None:
    """Two or three sentences; empty where no answer of the model may stand, None where it gave none."""
    found: str | None = None

    async def step(attempt: int) -> bool:
        nonlocal found
        prompt = prompts.summarise(domains, language, again=attempt > 0)
        found = read_summary(await calls.ask(prompt, attempt), language)
        return True

    in_vain = await calls.until(step)
    return "" if in_vain else found
