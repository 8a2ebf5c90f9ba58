"""The file formats of a specification."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

from app.web.specifications.document import Document
from app.web.specifications.gherkin_file import as_gherkin
from app.web.specifications.html_file import as_html
from app.web.specifications.json_file import as_json
from app.web.specifications.markdown_file import as_markdown


@dataclass(frozen=True, slots=True)
class Export:
    """A format of a file.  media_type: with a character set if it is text; write: yields pieces as they are sent."""

    label: str
    media_type: str
    suffix: str
    write: Callable[[Document], Iterator[str] | Iterator[bytes]]


EXPORTS = MappingProxyType(
    {
        "markdown": Export("Markdown", "text/markdown; charset=utf-8", "md", as_markdown),
        "html": Export("HTML", "text/html; charset=utf-8", "html", as_html),
        "json": Export("JSON", "application/json", "json", as_json),
        "gherkin": Export("Gherkin", "application/zip", "zip", as_gherkin),
    }
)


def file_name(document: Document, export: Export) -> str:
    """A name of ASCII letters, digits, hyphens and dots only, as it is sent in a header."""
    name = f"{document.source.name}-{document.source.commit[:10]}-{document.specification.language}-{document.version}"
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-.") else "-" for c in name).strip("-.")
    return f"specification-{kept}.{export.suffix}"
