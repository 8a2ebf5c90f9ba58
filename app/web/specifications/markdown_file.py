"""A specification as Markdown: a heading for each domain and feature, a line for each behaviour."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.contents import contents
from app.domain.specification import Behaviour
from app.web.core.visible_text import quoted
from app.web.specifications.document import Document, Source
from app.web.specifications.words import Words, words


def as_markdown(document: Document) -> Iterator[str]:
    """Pieces of the text."""
    specification, source, say = document.specification, document.source, words(document.specification.language)
    yield f"# {_quoted(say.specification.format(source.title))}\n\n"
    yield from _about(document, say)
    if specification.summary:
        yield f"{_quoted(specification.summary)}\n\n"
    for domain in specification.domains:
        yield f"## {_quoted(say.domain(domain.name))}\n\n"
        for feature in domain.features:
            yield f"### {_quoted(say.feature(feature.name))}\n\n"
            for behaviour in feature.behaviours:
                yield _line(behaviour, source, say)
            yield "\n"


def _about(document: Document, say: Words) -> Iterator[str]:
    source, counts = document.source, contents(document.specification).counts
    facts = [
        f"{say.commit} `{source.commit}`",
        _quoted(say.version.format(document.version)),
        _quoted(say.generated.format(document.generated_at, document.generator)),
        _quoted(say.count(counts.behaviours)),
    ]
    yield " · ".join(facts) + "\n\n"
    if not counts.behaviours:
        yield f"{_quoted(say.empty)}\n\n"
    if counts.fell_back:
        yield f"> {_quoted(say.fell_back.format(counts.fell_back, counts.behaviours))}\n\n"


def _line(behaviour: Behaviour, source: Source, say: Words) -> str:
    subject, mark = behaviour.subject, say.mark(behaviour)
    where, link = _quoted(f"{subject.file}:{subject.line}"), source.link(subject)
    badge = f" **{_quoted(mark)}**" if mark else ""
    return f"- {_quoted(behaviour.sentence)}{badge} · " + (f"[{where}]({link})\n" if link else f"{where}\n")


def _quoted(text: str) -> str:
    """Quote a text without spaces at its ends, which Markdown treats as an indent or a line break."""
    return quoted(text.strip(" "))
