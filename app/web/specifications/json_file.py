"""A specification as JSON, with unchanged text: as a file with all data of the document, and in the API's answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from app.domain.contents import Contents, Counts, DomainEntry, FeatureEntry, contents
from app.domain.specification import Behaviour, Feature, Specification
from app.web.specifications.document import Document, Source


def as_json(document: Document) -> Iterator[str]:
    """Stream the document as one JSON object, one feature per chunk, escaped to ASCII."""
    found, source = contents(document.specification), document.source
    yield json.dumps(_head(document, found))[:-1] + ', "domains": ['
    for number, (domain, entry) in enumerate(zip(document.specification.domains, found.domains, strict=True)):
        yield ("," if number else "") + "\n" + json.dumps(_entry(entry))[:-1] + ', "features": ['
        for place, (feature, inner) in enumerate(zip(domain.features, entry.features, strict=True)):
            yield ("," if place else "") + "\n " + json.dumps(_feature(feature, inner, source))
        yield "]}"
    yield "\n]}\n"


def _head(document: Document, found: Contents) -> dict[str, Any]:
    source, specification = document.source, document.specification
    return {
        "repository": {"host": source.host, "owner": source.owner, "name": source.name, "url": source.url},
        "commit": source.commit,
        "ref": source.ref,
        "language": specification.language,
        "version": document.version,
        "generator": document.generator,
        "generated_at": document.generated_at.isoformat(),
        "summary": specification.summary,
        **_counts(found.counts),
    }


def _counts(counts: Counts) -> dict[str, Any]:
    return {"count": counts.behaviours, "by_status": dict(counts.statuses), "fell_back": counts.fell_back}


def _entry(entry: DomainEntry | FeatureEntry) -> dict[str, Any]:
    return {"name": entry.name, "anchor": entry.anchor, **_counts(entry.counts)}


def _feature(feature: Feature, entry: FeatureEntry, source: Source) -> dict[str, Any]:
    behaviours = [_behaviour(one) | {"url": source.link(one.subject)} for one in feature.behaviours]
    return _entry(entry) | {"behaviours": behaviours}


def whole_json(whole: Specification) -> dict[str, Any]:
    """A DocumentShape: the same as the file, without numbers, anchors and links."""
    domains = [
        {
            "name": domain.name,
            "features": [
                {"name": feature.name, "behaviours": [_behaviour(one) for one in feature.behaviours]}
                for feature in domain.features
            ],
        }
        for domain in whole.domains
    ]
    return {"language": whole.language, "summary": whole.summary, "domains": domains}


def _behaviour(behaviour: Behaviour) -> dict[str, Any]:
    subject = behaviour.subject
    return {
        "sentence": behaviour.sentence,
        "status": subject.status,
        "file": subject.file,
        "line": subject.line,
        "framework": subject.framework,
        "suites": list(subject.suites),
        "name": subject.name,
        "fell_back": behaviour.fell_back,
    }
