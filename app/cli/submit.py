"""`fairlane submit`: a REST client."""

from __future__ import annotations

import json
import sys
import time

import click
from fairlane_client import Client, Job, RefusedError, UnreachableError

from app.cli.listen_address import service_url
from app.cli.waiting import WaitLine
from app.domain.words import counted
from app.errors import BadSetting
from app.settings import load

FAILED, USAGE, QUOTA, UNREACHABLE, REFUSED = 1, 2, 3, 4, 5
#: Exit codes by the status of a refusal; other refusals by the client's fault are REFUSED, by the server's UNREACHABLE.
CODES = {400: USAGE, 402: QUOTA, 422: USAGE, 429: UNREACHABLE}
SERVERS_FAULT = 500
#: Exit codes by the error of a failed job, where a worker found out what the service refuses or cannot reach.
FAILURES = {
    "repository_not_found": REFUSED, "repository_outside_root": REFUSED, "commit_not_found": REFUSED,
    "access_denied": REFUSED, "host_refused": REFUSED, "git_timeout": UNREACHABLE, "git_failed": UNREACHABLE,
}  # fmt: skip
#: Statuses of jobs that say no to whoever waits for a result.
ENDED_BADLY = frozenset({"failed", "cancelled"})


@click.command()
@click.argument("repository")
@click.option("--ref", help="A branch or tag.")
@click.option("--commit", help="A commit id; of a local repository, also its beginning.")
@click.option("--retry", is_flag=True, help="Start again if the last analysis of this commit failed.")
@click.option("--wait", is_flag=True, help="Wait until the job has ended.")
@click.option("--json", "as_json", is_flag=True)
def submit(repository: str, ref: str | None, commit: str | None, *, retry: bool, wait: bool, as_json: bool) -> None:
    """Submit an analysis to the service (see `fairlane url`), with the token FAIRLANE_TOKEN.

    Exit codes: 0 completed or accepted, 1 the analysis failed or was cancelled, 2 wrong usage, 3 quota, 4 the service
    or the Git host cannot be reached or is too busy, 5 refused (token, rights, no such repository or revision).
    """
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
            sys.exit(CODES.get(refusal.status, REFUSED if refusal.status < SERVERS_FAULT else UNREACHABLE))
    click.echo(json.dumps(job) if as_json else _sentence(job, client.url))
    sys.exit(_code(job))


@click.command()
def url() -> None:
    """Print where `fairlane submit` finds the service: FAIRLANE_URL, or else the `fairlane up` of this home."""
    click.echo(service_url(load()))


def _code(job: Job) -> int:
    if job["status"] not in ENDED_BADLY:
        return 0
    return FAILURES.get(job["error"]["code"], FAILED) if job["error"] else FAILED


def _client() -> Client:
    try:
        settings = load()
    except BadSetting as bad:  # 1 would say that the analysis failed
        click.echo(f"fairlane: {bad.detail}", err=True)
        sys.exit(USAGE)
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
