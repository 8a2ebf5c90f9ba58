"""The words of the pages about a job: why it waits, why it failed, and the texts with which job.js follows it."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from app.domain.jobs import Job
from app.domain.lifecycle import Failure
from app.domain.waiting import Reason, Wait
from app.store.fairness.queue_position import MOST
from app.web.core.languages import DEFAULT, gettext, lazy_gettext, spoken
from app.web.core.page_words import COUNTS
from app.web.core.visible_text import visible

#: By reason, and by the place in the queue if workers are the reason; job.js chooses and fills them in the same way.
WAITS = {
    Reason.STARTING: lazy_gettext("Starting."),
    Reason.NO_WORKERS: lazy_gettext("No worker serves this queue right now; your job starts as soon as one does."),
    Reason.QUEUE_PAUSED: lazy_gettext("The operator has paused this queue; your job keeps its place."),
    Reason.USER_AT_LIMIT: lazy_gettext(
        "Your jobs use %(running)s of %(limit)s slots of tier %(tier)s. Of your own jobs, %(ahead)s must start before"
        " this one. It starts as soon as one ends."
    ),
    "elsewhere": lazy_gettext(
        "The job waits in the line of another user who asked for this commit. It starts as soon as one of that user's"
        " slots is free."
    ),
    Reason.BACKOFF: lazy_gettext("The last attempt failed; trying again at %(at)s UTC."),
    "soon": lazy_gettext("The last attempt failed; trying again soon."),
    "next": lazy_gettext("Your job is next: all workers are busy, and the first free one takes it."),
    "place": lazy_gettext("Number %(position)s in the queue."),
    "far": lazy_gettext("More than %(ahead)s jobs are ahead."),
}
#: In general words, by code; the stored message is English, and may say more.
FAILURES = {
    "repository_not_found": lazy_gettext("The repository does not exist or is private."),
    "repository_empty": lazy_gettext("The repository has no commits."),
    "repository_too_large": lazy_gettext("The repository is larger than the limit."),
    "repository_too_complex": lazy_gettext("Git needs too long to read the repository."),
    "repository_damaged": lazy_gettext("The repository is damaged."),
    "repository_outside_root": lazy_gettext(
        "A part of the repository lies outside of the folder of local repositories."
    ),
    "too_many_tests": lazy_gettext("The repository has more tests than the limit."),
    "commit_not_found": lazy_gettext("The repository has no such commit."),
    "access_denied": lazy_gettext("The Git host refused access to the repository."),
    "host_refused": lazy_gettext("This Git host or this kind of address is not allowed."),
    "git_timeout": lazy_gettext("The Git host took too long to answer."),
    "git_failed": lazy_gettext("The Git host could not be reached or did not answer as expected."),
    "worker_lost": lazy_gettext(
        "The job's worker died on every attempt; the job may need more memory than is available."
    ),
    "time_limit": lazy_gettext("The job took longer than allowed."),
    "out_of_memory": lazy_gettext("The job needed more memory than a worker has."),
    "internal_error": lazy_gettext("The service failed; the error was logged."),
    "undeliverable": lazy_gettext(
        "The job could not be given to a worker; it was moved to the dead letters, which the operator sees."
    ),
    "analysis_gone": lazy_gettext("The analysis no longer exists; analyse the commit again."),
    "changed_meanwhile": lazy_gettext(
        "While the job waited, the generator or the repository's visibility changed, and it would cost more than it"
        " has reserved; ask again."
    ),
}


def failure(error: Failure) -> str:
    """Why a job failed: the stored words, or in another language the general ones for the code.

    The words of a code that nobody translated are marked as English.
    """
    if spoken() == DEFAULT:
        return error.message
    if error.code not in FAILURES:
        return Markup('<span lang="en" translate="no">{}</span>').format(visible(error.message))
    return str(FAILURES[error.code])


def waiting(job: Job) -> str:
    """Why a job has not started; empty if it has."""
    wait = job.wait
    if wait is None:
        return ""
    facts = {
        "running": wait.running,
        "limit": wait.limit,
        "tier": job.tier.value if job.tier else "",
        "position": f"{wait.position or 0:,}",
        "ahead": _ahead(wait),
        "at": f"{job.next_attempt_at:%H:%M:%S}" if job.next_attempt_at else "",
    }
    return str(WAITS[_key(job, wait)]) % facts


def live_texts(unit: str) -> dict[str, Any]:
    """The sentences of job.js, with places as `%(name)s`.  unit: what the progress counts."""
    return {
        "started": gettext("started %(duration)s ago"),
        "asked": gettext("asked %(duration)s ago"),
        "seconds": gettext("%(seconds)s s"),
        "minutes": gettext("%(minutes)s min %(seconds)s s"),
        "eta": gettext("Starts in about %(eta_low)s to %(eta_high)s s."),
        "progress": gettext("%(done)s of %(total)s"),
        "one": COUNTS[unit](1),
        "many": COUNTS[unit](2),
        "title": gettext("%(state)s: %(name)s"),
        "waits": {str(key): str(text) for key, text in WAITS.items()},
        "most": MOST,
    }


def _key(job: Job, wait: Wait) -> str:
    if wait.reason is Reason.BACKOFF and job.next_attempt_at is None:
        return "soon"
    if wait.reason is Reason.USER_AT_LIMIT and wait.limit is None:
        return "elsewhere"
    if wait.reason is not Reason.WORKERS_BUSY:
        return wait.reason
    position = wait.position or 0
    return "next" if position == 1 else "far" if position > MOST else "place"


def _ahead(wait: Wait) -> str:
    """A number of jobs in the queue, or of the user's own; with a plus where no more are counted."""
    if wait.reason is Reason.USER_AT_LIMIT:
        own = wait.yours_ahead or 0
        return f"{own:,}+" if (wait.position or 0) > MOST else f"{own:,}"
    return f"{wait.ahead_of_you or 0:,}"
