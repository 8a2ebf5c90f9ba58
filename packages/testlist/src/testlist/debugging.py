"""For authors of languages: why a file could not be read, or why rules failed, with where it happened."""

import logging
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from testlist.git.repository import Repository
from testlist.languages import language_of, reader
from testlist.model import Inventory
from testlist.sandbox.text import Unreadable, utf8

#: of a file whose reader raised
FAILED: Final = "parse_failed"


def show_failures() -> None:
    """Say on stderr what rules raise, which otherwise costs a file its rows and is not told."""
    logging.basicConfig(format="%(message)s", level=logging.ERROR)


def tracebacks(repository: Repository, found: Inventory) -> Iterator[str]:
    """What the readers of files raised.  They are read again in this process, without a sandbox."""
    failed = {file.blob_id: file.path for file in found.files if file.skipped == FAILED}
    for blob_id, content in repository.read(failed) if failed else ():
        path = failed[blob_id]
        language = language_of(path)
        if isinstance(content, bytes) and language is not None:
            try:
                with suppress(Unreadable):
                    reader(language).extract(utf8(content, language), language)
            except Exception:  # noqa: BLE001 - whatever it is shall be seen
                yield f"{path}:\n{traceback.format_exc()}"
