"""`fairlane submit`: a REST client."""

from __future__ import annotations

import json
import sys
import time

import click

from app.cli.place import service_url
from app.cli.waiting import WaitLine
from app.client import Client, Job, RefusedError, UnreachableError
from app.domain.words import counted
from app.settings import load

QUOTA, UNREACHABLE, USAGE = 3, 4, 2
#: exit codes by the status of a refusal
CODES = {402: QUOTA, 400: USAGE, 422: USAGE, 503: UNREACHABLE}


@click.command()
@click.argument("repository")
@click.option("--ref", help="A branch or tag.")
@click.option("--commit", help="A full commit id.")
@click.option("--retry", is_flag=True, help="Start again if the last analysis of this commit failed.")
@click.option("--wait", is_flag=True, help="Wait until the job has ended; exit code 0 if it completed, 1 otherwise.")
@click.option("--json", "as_json", is_flag=True)
def submit(repository: str, ref: str | None, commit: str | None, *, retry: bool, wait: bool, as_json: bool) -> None:
    """Submit an analysis to the service (see `fairlane url`), with the token FAIRLANE_TOKEN."""
    with _client() as client:
        try:
            job = client.submit(repository, ref=ref, commit=commit, retry=retry)
            if wait:
                with WaitLine(only_live=as_json) as line:
                    job = client.wait(job, seen=line.show, pause=time.sleep)
        except UnreachableError as error:
            click.echo(f"fairlane: {error}; is `fairlane up` running?", err=True)
            sys.exit(UNREACHABLE)
        except RefusedError as refusal:
            click.echo(f"fairlane: {refusal}", err=True)
            for wrong in refusal.errors:
                click.echo(f"  {wrong.get('pointer', '')}: {wrong.get('detail', '')}", err=True)
            sys.exit(CODES.get(refusal.status, 1))
    click.echo(json.dumps(job) if as_json else _sentence(job, client.url))
    sys.exit(0 if not wait or job["status"] == "completed" else 1)


@click.command()
def url() -> None:
    """Print where `fairlane submit` finds the service: FAIRLANE_URL, or else the `fairlane up` of this home."""
    click.echo(service_url(load()))


def _client() -> Client:
    settings = load()
    token = settings.fairlane_token.get_secret_value().strip() if settings.fairlane_token else ""
    if len(token.split()) > 1 or not token.isascii() or not token.isprintable():
        click.echo("fairlane: FAIRLANE_TOKEN is not a token: expected one word from `fairlane token add`", err=True)
        sys.exit(USAGE)
    return Client(service_url(settings), token)


def _sentence(job: Job, base: str) -> str:
    summary, error, wait = job["summary"], job["error"], job["wait"]
    if summary:
        more = f"{counted(summary['tests'], 'test')} in {counted(summary['files'], 'file')}"
    elif error:
        more = f"{error['message']} ({error['code']})"
    else:
        more = wait["text"] if wait else ""
    return f"{job['status']}: {more}\n{base}{job['links']['page']}"
