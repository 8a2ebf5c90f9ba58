"""How templates show numbers, times, hostile names, and the states of a job in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from apiflask import APIFlask
from markupsafe import Markup

from app.domain.directories import directories
from app.domain.jobs import Job
from app.domain.words import inflected
from app.web import charts
from app.web.context import utc_now
from app.web.instants import iso
from app.web.job_json import links
from app.web.line_links import line_link
from app.web.static_files import asset
from app.web.visible_text import visible

#: The words for each state, and for each phase of a running job.
STATES = {
    "queued": "Queued",
    "waiting": "Waiting",
    "running": "Running",
    "retrying": "Trying again soon",
    "completed": "Completed",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
PHASES = {
    "fetching": "Fetching the repository", "parsing": "Reading test files", "saving": "Saving the result",
    "placing": "Grouping the tests", "phrasing": "Writing sentences", "summarising": "Writing the summary",
}  # fmt: skip
#: Codes whose cause is the repository or the request; all others are our fault.
THEIRS = frozenset({
    "repository_not_found", "repository_empty", "repository_too_large", "repository_too_complex", "repository_damaged",
    "repository_outside_root", "too_many_tests", "commit_not_found", "access_denied", "host_refused",
})  # fmt: skip

#: Why a file was not read.
SKIPPED = {
    "too_large": "too large",
    "binary": "not text",
    "unreadable": "not readable",
    "missing": "missing from our copy of the repository",
    "parse_failed": "could not be parsed",
    "parse_timeout": "took too long to parse",
    "rules_failed": "our rules failed on it",
}
#: What the lists of jobs count, by service: members of a summary.
COUNTED = {"analysis": "tests", "specview": "behaviours"}
GROUPS = {
    "added": "Added", "removed": "Removed", "moved": "Moved", "renamed": "Renamed", "status_changed": "Other status",
}  # fmt: skip
SPECIFICATION_GROUPS = {
    "added": "Added", "removed": "Removed", "reworded": "Reworded", "moved": "Moved", "status_changed": "Other status",
}  # fmt: skip


def init(app: APIFlask) -> None:
    """Give templates their words and filters."""
    env = app.jinja_env
    env.finalize = _finalize
    env.trim_blocks = env.lstrip_blocks = True
    env.filters |= {
        "number": number, "instant": instant, "duration": duration, "short": short, "sentence": sentence, "iso": iso,
        "links": links_of, "change": change, "counted": counted, "breakable": breakable, "seconds": seconds,
    }  # fmt: skip
    env.globals |= {
        "STATES": STATES, "PHASES": PHASES, "asset": asset, "line_url": line_url, "is_theirs": THEIRS.__contains__,
        "bars": charts.bars, "directories": directories, "meter": charts.meter, "shares": charts.shares,
        "columns": charts.columns,
        "SKIPPED": SKIPPED, "GROUPS": GROUPS, "near": charts.near, "chart_rows": charts.rows,
        "SPECIFICATION_GROUPS": SPECIFICATION_GROUPS, "COUNTED": COUNTED,
    }  # fmt: skip


def number(value: float) -> str:
    """1,234."""
    return f"{value:,}"


def change(value: int) -> str:
    """A number with its sign; ±0 for none."""
    return ("+" if value > 0 else "\u2212" if value < 0 else "±") + number(abs(value))


def counted(count: int, word: str, plural: str | None = None, *, strong: bool = False, signed: bool = False) -> Markup:
    """A number with its word: 1 test, 2 tests.

    plural: of a word that does not only get an s; strong: the number stands out; signed: it is a change, ±0 for none.
    """
    shown = change(count) if signed else number(count)
    form = Markup("<strong>{}</strong> {}") if strong else Markup("{} {}")
    return form.format(shown, inflected(count, word, plural))


def instant(value: str | datetime | None) -> Markup | str:
    """A `time` element, in UTC to the minute; static/times.js shows it in the reader's own time."""
    if value is None:
        return "–"  # noqa: RUF001
    moment = (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(), f"{moment:%Y-%m-%d %H:%M} UTC")


def duration(job: Job) -> str:
    """How long a job has taken so far, since its submission."""
    start, end = job.started_at or job.submitted_at, job.finished_at or utc_now()
    seconds = max(0.0, (end - start).total_seconds())
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def seconds(value: float) -> str:
    """59 s, 12 min, 5 h or 3 days: two of a unit or more, rounded down."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if value >= 2 * size:
            return f"{int(value // size):,} {unit}"
    return f"{int(max(0.0, value))} s"


def sentence(told: str) -> Markup:
    """Show names between backticks as code; a single backtick is a character."""
    parts = visible(told, keep="\n\t\r").split("`")
    if len(parts) % 2 == 0 or not all(parts[1::2]):
        return Markup.escape("`".join(parts))
    return Markup().join(Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in enumerate(parts))


def breakable(label: str) -> Markup:
    """A path or a name that may be broken after / and _, where a long one has no other place for it."""
    parts = re.split(r"(?<=[/_])(?=[^/_])", visible(label, keep="\n\t\r"))
    return Markup("<wbr>").join(parts)


def short(commit: str) -> str:
    """The first ten digits."""
    return commit[:10]


def line_url(job: Job, path: str, line: int) -> str | None:
    """The address at which the host shows this line of this commit; None for an unknown host."""
    where = job.repository
    return line_link(where.host, f"{where.owner}/{where.name}", job.commit, path, line)


def links_of(job: Job) -> dict[str, str]:
    """The addresses of a job and of what belongs to it."""
    return links(job.service, job.id)


def _finalize(value: object) -> object:
    """Applied to every expression of every template: strangers' text is made visible, then escaped as usual."""
    return visible(value, keep="\n\t\r") if isinstance(value, str) and not isinstance(value, Markup) else value
