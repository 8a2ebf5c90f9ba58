"""How templates show numbers, times, hostile names, and the states of a job in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from apiflask import APIFlask
from markupsafe import Markup

from app.domain.directories import directories
from app.domain.jobs import Job
from app.web.core import languages, page_words, refusals
from app.web.core.context import utc_now
from app.web.core.instants import iso
from app.web.core.languages import gettext
from app.web.core.static_files import asset
from app.web.core.visible_text import visible
from app.web.jobs import job_words
from app.web.jobs.icons import icon_of, icons
from app.web.jobs.job_json import links
from app.web.operations import console_words
from app.web.results import check_words
from app.web.results.links import line_link, test_link
from app.web.site import charts

#: Codes whose cause is the repository or the request; all others are our fault.
THEIRS = frozenset({
    "repository_not_found", "repository_empty", "repository_too_large", "repository_too_complex", "repository_damaged",
    "repository_outside_root", "too_many_tests", "commit_not_found", "access_denied", "host_refused",
})  # fmt: skip

#: What the lists of jobs count, by service: members of a summary.
COUNTED = {"analysis": "tests", "specview": "behaviours"}


def init(app: APIFlask) -> None:
    """Give templates their words and filters."""
    env = app.jinja_env
    env.finalize = _finalize
    env.trim_blocks = env.lstrip_blocks = True
    env.filters |= {
        "number": number, "instant": instant, "duration": duration, "short": short, "sentence": sentence, "iso": iso,
        "links": links_of, "change": change, "counted": counted, "breakable": breakable, "seconds": seconds,
        "status": status, "by_code": by_code, "language": languages.language_name, "failure": job_words.failure,
        "wait": job_words.waiting, "refusal": refusals.detail_of, "refusal_title": refusals.title_of,
        "check_sentence": check_words.check_sentence,
    }  # fmt: skip
    env.globals |= {
        "STATES": page_words.STATES, "EVENTS": page_words.EVENTS, "PHASES": page_words.PHASES,
        "STATUSES": page_words.STATUSES, "KINDS": page_words.KINDS, "CAUSES": page_words.CAUSES,
        "SKIPPED": page_words.SKIPPED, "GROUPS": page_words.GROUPS,
        "SPECIFICATION_GROUPS": page_words.SPECIFICATION_GROUPS,
        "icon_of": icon_of, "icons": icons, "SORTS": page_words.SORTS, "SIGHTINGS": page_words.SIGHTINGS,
        "COUNTED": COUNTED, "test_link": test_link,
        "CHECKED": check_words.CHECKED, "CANNOT_FAIL": check_words.CANNOT_FAIL, "IDLE": check_words.IDLE,
        "HEADINGS": console_words.HEADINGS, "VERDICTS": console_words.VERDICTS,
        "asset": asset, "line_url": line_url, "is_theirs": THEIRS.__contains__, "directories": directories,
        "bars": charts.bars, "meter": charts.meter, "shares": charts.shares, "columns": charts.columns,
        "near": charts.near, "chart_rows": charts.rows, "live_texts": job_words.live_texts,
        "console_texts": console_words.console_texts, "filter_texts": filter_texts,
    }  # fmt: skip


def number(value: float) -> str:
    """Format a number, as in 1,234."""
    return f"{value:,}"


def change(value: int) -> str:
    """A number with its sign; ±0 for none."""
    return ("+" if value > 0 else "\u2212" if value < 0 else "±") + number(abs(value))


def counted(count: int, word: str, *, strong: bool = False, signed: bool = False) -> Markup:
    """A number with its word: 1 test, 2 tests.

    word: of page_words.COUNTS; strong: the number stands out; signed: it is a change, ±0 for none.
    """
    shown = change(count) if signed else number(count)
    template = Markup(page_words.COUNTS[word](abs(count)))  # noqa: S704 - our own messages
    return template % {"num": Markup("<strong>{}</strong>").format(shown) if strong else shown}


def status(code: str) -> str:
    """The word for the status of a test."""
    return str(page_words.STATUSES.get(code, code))


def by_code(words: Mapping[str, object]) -> dict[str, str]:
    """Words by code in the language of this answer, for a script."""
    return {code: str(word) for code, word in words.items()}


def filter_texts() -> dict[str, str]:
    """The texts of specification.js."""
    return {
        "here": gettext("%(num)s on this page."),
        "elsewhere": gettext("Search to look through the whole document."),
    }


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
    if seconds < 120:
        return str(gettext("%(seconds)s s", seconds=f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"))
    return str(gettext("%(minutes)s min %(seconds)s s", minutes=f"{seconds // 60:.0f}", seconds=f"{seconds % 60:.0f}"))


def seconds(value: float) -> str:
    """59 s, 12 min, 5 h or 3 days: two of a unit or more, rounded down."""
    if value >= 2 * 86_400:
        return counted(int(value // 86_400), "day")
    if value >= 2 * 3_600:
        return str(gettext("%(hours)s h", hours=int(value // 3_600)))
    if value >= 2 * 60:
        return str(gettext("%(minutes)s min", minutes=int(value // 60)))
    return str(gettext("%(seconds)s s", seconds=int(max(0.0, value))))


def sentence(text: str) -> Markup:
    """Show names between backticks as code; a single backtick is a character."""
    parts = visible(text, keep="\n\t\r").split("`")
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
