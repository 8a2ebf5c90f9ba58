"""A specification as one HTML file with its style: it needs no network, runs no script, and prints well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from markupsafe import Markup

from app.domain.contents import Contents, DomainEntry, FeatureEntry, contents
from app.domain.specification import Behaviour, Feature
from app.web.core import visible_text
from app.web.specifications.document import Document, Source
from app.web.specifications.words import Words, words

#: The file may load nothing, whatever text it contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_HEAD = Markup("""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
""")


def as_html(document: Document) -> Iterator[str]:
    """Pieces of the text, a feature at a time."""
    specification, source, say = document.specification, document.source, words(document.specification.language)
    found = contents(specification)
    title = visible_text.visible(say.specification.format(source.title))
    yield _HEAD.format(language=specification.language, policy=_POLICY, title=title, style=Markup(_style()))  # noqa: S704
    yield from _about(document, found, say)
    yield "</header>\n"
    if found.counts.behaviours:
        yield from _contents(found, say)
    yield "<main>\n"
    for domain, entry in zip(specification.domains, found.domains, strict=True):
        yield f'<section>\n<h2 id="{entry.anchor}">{_named(say.domain(entry.name), entry)}</h2>\n'
        for feature, inner in zip(domain.features, entry.features, strict=True):
            yield f'<h3 id="{inner.anchor}">{_named(say.feature(inner.name), inner)}</h3>\n'
            yield "".join(_behaviours(feature, source, say))
        yield "</section>\n"
    yield "</main>\n</body>\n</html>\n"


def _about(document: Document, found: Contents, say: Words) -> Iterator[str]:
    source, counts = document.source, found.counts
    facts = [
        f"{say.commit} {source.commit[:10]}",
        say.version.format(document.version),
        say.generated.format(document.generated_at, document.generator),
        say.count(counts.behaviours),
    ]
    yield '<ul class="facts">' + "".join(f"<li>{_escaped(fact)}</li>" for fact in facts) + "</ul>\n"
    if document.specification.summary:
        yield f'<p class="summary">{_escaped(document.specification.summary)}</p>\n'
    if not counts.behaviours:
        yield f'<p class="note">{_escaped(say.empty)}</p>\n'
    if counts.fell_back:
        yield f'<p class="note">{_escaped(say.fell_back.format(counts.fell_back, counts.behaviours))}</p>\n'


def _contents(found: Contents, say: Words) -> Iterator[str]:
    yield f'<nav aria-labelledby="contents">\n<h2 id="contents">{_escaped(say.contents)}</h2>\n<ul>\n'
    for domain in found.domains:
        yield f"<li>{_entry(say.domain(domain.name), domain)}\n<ul>\n"
        for feature in domain.features:
            yield f"<li>{_entry(say.feature(feature.name), feature)}</li>\n"
        yield "</ul></li>\n"
    yield "</ul>\n</nav>\n"


def _entry(name: str, entry: DomainEntry | FeatureEntry) -> str:
    return f'<a href="#{entry.anchor}">{_escaped(name)}</a> <small>{entry.counts.behaviours:,}</small>'


def _named(name: str, entry: DomainEntry | FeatureEntry) -> str:
    return f"{_escaped(name)} <small>{entry.counts.behaviours:,}</small>"


def _behaviours(feature: Feature, source: Source, say: Words) -> Iterator[str]:
    yield '<ul class="behaviours">\n'
    for behaviour in feature.behaviours:
        mark = say.mark(behaviour)
        badge = f' <span class="mark">{_escaped(mark)}</span>' if mark else ""
        yield f"<li><bdi>{_escaped(behaviour.sentence)}</bdi>{badge}{_where(behaviour, source)}</li>\n"
    yield "</ul>\n"


def _where(behaviour: Behaviour, source: Source) -> str:
    place, link = _escaped(f"{behaviour.subject.file}:{behaviour.subject.line}"), source.link(behaviour.subject)
    place = Markup("<bdi>{}</bdi>").format(place)
    inside = Markup('<a href="{}" rel="noreferrer">{}</a>').format(link, place) if link else place
    return f' <span class="where">{inside}</span>'


def _escaped(text: str) -> Markup:
    return Markup.escape(visible_text.visible(text))


@cache
def _style() -> str:
    return (Path(__file__).parents[1] / "static" / "document.css").read_text(encoding="utf-8")
