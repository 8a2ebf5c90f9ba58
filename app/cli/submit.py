"""`fairlane submit`: a REST client."""

from __future__ import annotations

import json
import sys
import time
from typing import Any
from uuid import uuid4

import click
import httpx

from app.cli.place import service_url
from app.cli.waiting import WaitLine
from app.domain.words import counted
from app.settings import load

QUOTA, UNREACHABLE, USAGE = 3, 4, 2
FINAL = ("completed", "failed", "cancelled")
POLL_SECONDS = 0.5


@click.command()
@click.argument("repository")
@click.option("--ref", help="A branch or tag.")
@click.option("--commit", help="A full commit id.")
@click.option("--retry", is_flag=True, help="Start again if the last analysis of this commit failed.")
@click.option("--wait", is_flag=True, help="Wait until the job has ended; exit code 0 if it completed, 1 otherwise.")
@click.option("--json", "as_json", is_flag=True)
def submit(repository: str, ref: str | None, commit: str | None, *, retry: bool, wait: bool, as_json: bool) -> None:
    """Submit an analysis to the service (see `fairlane url`), with the token FAIRLANE_TOKEN."""
    wanted = {"repository": repository, "ref": ref, "commit": commit, "retry": retry or None}
    with _client() as client:
        try:
            answer = _ask(
                client,
                "POST",
                "/api/v1/analyses",
                json={name: value for name, value in wanted.items() if value is not None},
                headers={"Idempotency-Key": str(uuid4())},
            )
            if wait:
                answer = _ended(client, answer, as_json=as_json)
        except httpx.HTTPError as error:
            where = str(client.base_url).rstrip("/")
            click.echo(f"fairlane: {where} does not answer: {error}; is `fairlane up` running?", err=True)
            sys.exit(UNREACHABLE)
    click.echo(json.dumps(answer) if as_json else _sentence(answer, str(client.base_url)))
    sys.exit(0 if not wait or answer["status"] == "completed" else 1)


def _ended(client: httpx.Client, job: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
    """The job after it has ended; until then a line shows its state."""
    with WaitLine(only_live=as_json) as line:
        while job["status"] not in FINAL:
            line.show(job)
            time.sleep(POLL_SECONDS)
            job = _ask(client, "GET", f"/api/v1/analyses/{job['id']}")
    return job


@click.command()
def url() -> None:
    """Print where `fairlane submit` finds the service: FAIRLANE_URL, or else the `fairlane up` of this home."""
    click.echo(service_url(load()))


def _client() -> httpx.Client:
    settings = load()
    token = settings.fairlane_token.get_secret_value().strip() if settings.fairlane_token else ""
    if len(token.split()) > 1 or not token.isascii() or not token.isprintable():
        click.echo("fairlane: FAIRLANE_TOKEN is not a token: expected one word from `fairlane token add`", err=True)
        sys.exit(USAGE)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=service_url(settings), headers=headers, timeout=60)


def _ask(client: httpx.Client, method: str, path: str, **options: Any) -> dict[str, Any]:
    """The answer as JSON; a problem ends the command with its exit code."""
    answer = client.request(method, path, **options)
    if answer.is_success:
        found: dict[str, Any] = answer.json()
        return found
    try:
        problem = answer.json()
    except ValueError:
        problem = {"detail": f"HTTP {answer.status_code}"}
    click.echo(f"fairlane: {problem.get('detail') or problem.get('title')}", err=True)
    for error in problem.get("errors", []):
        click.echo(f"  {error.get('pointer', '')}: {error.get('detail', '')}", err=True)
    codes = {402: QUOTA, 400: USAGE, 422: USAGE, 503: UNREACHABLE}
    sys.exit(codes.get(answer.status_code, 1))


def _sentence(job: dict[str, Any], base: str) -> str:
    summary, error, wait = job["summary"], job["error"], job["wait"]
    more = (
        f"{counted(summary['tests'], 'test')} in {counted(summary['files'], 'file')}"
        if summary
        else f"{error['message']} ({error['code']})"
        if error
        else (wait or {}).get("text", "")
    )
    return f"{job['status']}: {more}\n{base.rstrip('/')}{job['links']['page']}"
