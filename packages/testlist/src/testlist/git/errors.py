"""From what git prints to a stable code and plain words.  Nothing git prints goes any further."""

import re
import signal
from typing import Final

from testlist.errors import InventoryError

#: first match wins; all in git's English (the environment sets LC_ALL=C)
MEANINGS: Final = (
    (r": git: (command )?not found", "git_failed", "git is not installed on this machine."),
    (r"signal 24|CPU time limit", "repository_too_complex", "Git needs too long to read the repository."),
    (r"out of memory|cannot allocate|mmap failed|cannot be mapped|too large to fit", "repository_too_large",
     "Git needs too much memory to read the repository."),
    (r"fsck error|is corrupt|has bad object|inflate (returned|error)|serious inflate|unresolved delta",
     "repository_damaged", "The repository is damaged."),
    (r"signal 25|File too large|invalid index-pack output|maximum allowed size", "repository_too_large",
     "The repository is larger than the limit."),
    (r"not our ref|remote ref .* not found|couldn't find remote ref|unadvertised object|no such remote ref|bad object",
     "commit_not_found", "The repository has no such commit."),
    (r"redirect|error: 30[0-9]", "host_refused", "The Git host redirects to another address, which is not followed."),
    (r"transport '.*' not allowed|protocol .* not supported|is unsupported|unable to find remote helper",
     "host_refused", "This kind of repository address is not allowed."),
    (r"Authentication failed|error: 403|error: 401|Permission denied|Access denied", "access_denied",
     "The Git host refused access to the repository."),
    # hosts answer a private repository and a missing one alike: by asking for a name and password
    (r"could not read (Username|Password)|terminal prompts disabled|unable to read askpass|not found|error: 4(04|10)",
     "repository_not_found", "The repository does not exist or is private."),
    (r"does not appear to be a git repository|does not exist|not a git repository", "repository_not_found",
     "The repository does not exist or is private."),
    (r"Operation too slow|timed out|Timeout|Connection timed", "git_timeout",
     "The Git host took too long to answer."),
)  # fmt: skip


#: how a git ends whose processor time is spent: by itself, or below a shell
SPENT: Final = frozenset({-signal.SIGXCPU, 128 + signal.SIGXCPU})


def meaning(errors: bytes, exit_code: int = 1) -> InventoryError:
    """Translate git's stderr and the way it ended."""
    if exit_code in SPENT:
        return InventoryError("repository_too_complex", "Git needs too long to read the repository.")
    text = errors.decode("utf-8", "replace")
    for pattern, code, message in MEANINGS:
        if re.search(pattern, text, re.IGNORECASE):
            return InventoryError(code, message)
    return InventoryError("git_failed", "The Git host could not be reached or did not answer as expected.")
