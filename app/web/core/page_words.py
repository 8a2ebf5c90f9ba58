"""The words of the pages for codes: states, phases, statuses, kinds, groups, and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.web.core.languages import lazy_gettext, ngettext

#: The words for each state, and for each phase of a running job.
STATES = {
    "queued": lazy_gettext("Queued"),
    "waiting": lazy_gettext("Waiting"),
    "running": lazy_gettext("Running"),
    "retrying": lazy_gettext("Trying again soon"),
    "completed": lazy_gettext("Completed"),
    "failed": lazy_gettext("Failed"),
    "cancelled": lazy_gettext("Cancelled"),
}
PHASES = {
    "fetching": lazy_gettext("Fetching the repository"),
    "parsing": lazy_gettext("Reading test files"),
    "saving": lazy_gettext("Saving the result"),
    "placing": lazy_gettext("Grouping the tests"),
    "phrasing": lazy_gettext("Writing sentences"),
    "summarising": lazy_gettext("Writing the summary"),
}
#: What happened to a job.
EVENTS = {
    "accepted": lazy_gettext("Accepted"),
    "joined": lazy_gettext("Somebody else asked for it too"),
    "left": lazy_gettext("Somebody who had joined left it"),
    "payer_left": lazy_gettext("The one who asked first left it; it goes on for the others"),
    "payer_came_back": lazy_gettext("The one who asked first came back"),
    "carried": lazy_gettext("Moved into the line of somebody else who asked for it"),
    "snoozed": lazy_gettext("Put back, because all slots of its user were taken"),
    "woken": lazy_gettext("Called, because a slot of its user is free"),
    "snooze_shadow": lazy_gettext("Would have been put back, if limits were enforced"),
    "quota_shadow": lazy_gettext("Would have been refused, if the quota were enforced"),
    "started": lazy_gettext("Started"),
    "retrying": lazy_gettext("The attempt failed; another one follows"),
    "redriven": lazy_gettext("Put back into its queue by an operator"),
    "moved": lazy_gettext("Moved to another database with its account; it begins again"),
    "cancel_requested": lazy_gettext("Asked to stop"),
    "reservation_orphaned": lazy_gettext("Its reservation was returned, because the job was gone"),
    "completed": lazy_gettext("Completed"),
    "failed": lazy_gettext("Failed"),
    "cancelled": lazy_gettext("Cancelled"),
}
#: Of a test.
STATUSES = {
    "active": lazy_gettext("active"),
    "skipped": lazy_gettext("skipped"),
    "todo": lazy_gettext("todo"),
    "focused": lazy_gettext("focused"),
    "xfail": lazy_gettext("xfail"),
}
KINDS = {
    "test": lazy_gettext("test"),
    "benchmark": lazy_gettext("benchmark"),
    "example": lazy_gettext("example"),
    "fuzz": lazy_gettext("fuzz"),
    "subtest": lazy_gettext("subtest"),
}
#: Why a file was not read.
SKIPPED = {
    "too_large": lazy_gettext("too large"),
    "binary": lazy_gettext("not text"),
    "unreadable": lazy_gettext("not readable"),
    "missing": lazy_gettext("missing from our copy of the repository"),
    "parse_failed": lazy_gettext("could not be parsed"),
    "parse_timeout": lazy_gettext("took too long to parse"),
    "rules_failed": lazy_gettext("our rules failed on it"),
}
#: By what a list of tests is sorted.
SORTS = {
    "path": lazy_gettext("file and line"),
    "name": lazy_gettext("name"),
    "status": lazy_gettext("status"),
    "framework": lazy_gettext("framework"),
}
#: Of a test in a commit, besides its status.
SIGHTINGS = {"absent": lazy_gettext("not there"), "unknown": lazy_gettext("file not read")}
GROUPS = {
    "added": lazy_gettext("Added"),
    "removed": lazy_gettext("Removed"),
    "moved": lazy_gettext("Moved"),
    "renamed": lazy_gettext("Renamed"),
    "status_changed": lazy_gettext("Other status"),
}
SPECIFICATION_GROUPS = {
    "added": GROUPS["added"],
    "removed": GROUPS["removed"],
    "reworded": lazy_gettext("Reworded"),
    "moved": GROUPS["moved"],
    "status_changed": GROUPS["status_changed"],
}
#: Of the time that jobs waited.
CAUSES = {
    "own_limit": lazy_gettext("own limit"),
    "others": lazy_gettext("jobs of others"),
    "no_worker": lazy_gettext("no worker free"),
    "paused": lazy_gettext("queue paused"),
}

#: What is counted, by its English word: the sentence for a number, with a place for it.
COUNTS: Mapping[str, Callable[[int], str]] = {
    "analysis": lambda n: ngettext("%(num)s analysis", "%(num)s analyses", n),
    "behaviour": lambda n: ngettext("%(num)s behaviour", "%(num)s behaviours", n),
    "byte": lambda n: ngettext("%(num)s byte", "%(num)s bytes", n),
    "case": lambda n: ngettext("%(num)s case", "%(num)s cases", n),
    "change": lambda n: ngettext("%(num)s change", "%(num)s changes", n),
    "check": lambda n: ngettext("%(num)s check", "%(num)s checks", n),
    "commit": lambda n: ngettext("%(num)s commit", "%(num)s commits", n),
    "day": lambda n: ngettext("%(num)s day", "%(num)s days", n),
    "dead letter": lambda n: ngettext("%(num)s dead letter", "%(num)s dead letters", n),
    "failed job": lambda n: ngettext("%(num)s failed job", "%(num)s failed jobs", n),
    "file": lambda n: ngettext("%(num)s file", "%(num)s files", n),
    "framework": lambda n: ngettext("%(num)s framework", "%(num)s frameworks", n),
    "name": lambda n: ngettext("%(num)s name", "%(num)s names", n),
    "subtest": lambda n: ngettext("%(num)s subtest", "%(num)s subtests", n),
    "suite": lambda n: ngettext("%(num)s suite", "%(num)s suites", n),
    "test": lambda n: ngettext("%(num)s test", "%(num)s tests", n),
    "test case": lambda n: ngettext("%(num)s test case", "%(num)s test cases", n),
    "unit": lambda n: ngettext("%(num)s unit", "%(num)s units", n),
}
