"""Extract the texts of the pages into each language's catalogue, and compile it: `python tools/messages.py`.

A new message gets an empty translation, which tests/contract/test_translations.py refuses; a message that no page uses
any more is dropped.  No guesses are made for changed messages.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from app import errors
from app.errors import Problem

APP = Path(__file__).parents[1] / "app"
CATALOGUES = APP / "web/translations"
TEMPLATES = "web/templates/**.html"
METHODS = [("**.py", "python"), (TEMPLATES, "jinja2.ext:babel_extract")]
OPTIONS = {TEMPLATES: {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}}
#: The sentences of refusals are messages too: those of app/errors.py, where they are raised.
PROBLEMS = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Problem)]
KEYWORDS = DEFAULT_KEYWORDS | dict.fromkeys(("lazy_gettext", "Message", *PROBLEMS))


def extracted() -> Catalog:
    """Every message of the code, without a translation."""
    found = Catalog(project="Fairlane", charset="utf-8")
    for _, _, message, comments, context in extract_from_dir(
        APP, METHODS, OPTIONS, keywords=KEYWORDS, comment_tags=("for translators:",), strip_comment_tags=True
    ):
        found.add(message, None, auto_comments=comments, context=context)
    return found


def read(path: Path) -> Catalog:
    """A catalogue with its translations."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3], abort_invalid=True)


def compiled(catalogue: Catalog) -> bytes:
    """What gettext reads."""
    out = io.BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


def main() -> None:
    """Update all catalogues, and say what each lacks."""
    template = extracted()
    for path in sorted(CATALOGUES.glob("*/LC_MESSAGES/messages.po")):
        catalogue = read(path) if path.stat().st_size else Catalog(locale=path.parts[-3], project="Fairlane")
        template.creation_date = catalogue.creation_date
        catalogue.update(template, no_fuzzy_matching=True)
        catalogue.fuzzy, catalogue.header_comment = False, f"# The pages of Fairlane: {catalogue.locale_identifier}."
        with path.open("wb") as file:
            write_po(file, catalogue, width=120, no_location=True, sort_output=True, ignore_obsolete=True)
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        lacking = [message.id for message in catalogue if message.id and not message.string]
        sys.stdout.write(f"{path.parts[-3]}: {len(catalogue)} messages, {len(lacking)} to translate\n")


if __name__ == "__main__":
    main()
