"""What can go wrong with a repository as a whole."""

from typing import Final

#: code -> whether asking again later may help
CODES: Final = {
    "repository_not_found": False,
    "repository_empty": False,
    "repository_too_large": False,
    "repository_too_complex": False,
    "repository_damaged": False,
    "repository_outside_root": False,
    "too_many_tests": False,
    "commit_not_found": False,
    "access_denied": False,
    "host_refused": False,
    "git_timeout": True,
    "git_failed": True,
}


class InventoryError(Exception):
    """A repository could not be inventoried.

    code: one of CODES, stable.  message: plain words for the person who asked; never output of git,
    which may hold addresses or credentials.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = CODES[code]

    def __reduce__(self) -> tuple[type["InventoryError"], tuple[str, str]]:
        return InventoryError, (self.code, self.message)
