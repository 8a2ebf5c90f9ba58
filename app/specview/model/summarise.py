"""The third phase: what the whole is about."""

from __future__ import annotations

from collections.abc import Sequence

from app.specview.model import prompts
from app.specview.model.answers import read_summary
from app.specview.model.calls import Calls


async def summarise(calls: Calls, domains: Sequence[tuple[str, Sequence[str]]], language: str) -> str:
    """Two or three sentences; empty where the model gives none that may stand."""
    found = ""

    async def step(attempt: int) -> bool:
        nonlocal found
        prompt = prompts.summarise(domains, language, again=attempt > 0)
        found = read_summary(await calls.ask(prompt, attempt), language)
        return True

    await calls.until(step)
    return found
