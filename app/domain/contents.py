"""The contents of a specification: its domains and features, each with an anchor and its behaviours by status."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.specification import Behaviour, Domain, Feature, Specification

_LONGEST = 40  # how many characters of an anchor come from a name
_OTHERS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of behaviours.  statuses: by status, without zeros; fell_back: written by the built-in generator."""

    behaviours: int
    statuses: Mapping[str, int]
    fell_back: int

    @classmethod
    def of(cls, behaviours: Iterable[Behaviour]) -> Counts:
        """Count the behaviours one by one."""
        statuses: Counter[str] = Counter()
        fell_back = 0
        for behaviour in behaviours:
            statuses[behaviour.subject.status] += 1
            fell_back += behaviour.fell_back
        return cls(statuses.total(), dict(sorted(statuses.items())), fell_back)

    @classmethod
    def sum(cls, parts: Iterable[Counts]) -> Counts:
        """Add up the counts of several parts."""
        statuses: Counter[str] = Counter()
        fell_back = 0
        for part in parts:
            statuses.update(part.statuses)
            fell_back += part.fell_back
        return cls(statuses.total(), dict(sorted(statuses.items())), fell_back)


@dataclass(frozen=True, slots=True)
class FeatureEntry:
    """A feature in the contents."""

    name: str
    anchor: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class DomainEntry:
    """A domain in the contents."""

    name: str
    anchor: str
    features: Sequence[FeatureEntry]
    counts: Counts


@dataclass(frozen=True, slots=True)
class Contents:
    """All domains, in the order of the document."""

    domains: Sequence[DomainEntry]
    counts: Counts


def contents(specification: Specification) -> Contents:
    """Count the behaviours of each feature and domain."""
    domains = [_entry(domain) for domain in specification.domains]
    return Contents(domains, Counts.sum(domain.counts for domain in domains))


def domain_anchor(domain: str) -> str:
    """The address of a domain within a page.  It depends on its name only, so that links to it stay valid."""
    return f"d-{_slug(domain)}{_digest(domain)}"


def feature_anchor(domain: str, feature: str) -> str:
    """The address of a feature within a page.  It depends only on the names of the domain and the feature."""
    return f"f-{_slug(feature)}{_digest(domain, feature)}"


def _entry(domain: Domain) -> DomainEntry:
    features = [_feature_entry(domain.name, feature) for feature in domain.features]
    return DomainEntry(
        domain.name, domain_anchor(domain.name), features, Counts.sum(feature.counts for feature in features)
    )


def _feature_entry(domain: str, feature: Feature) -> FeatureEntry:
    return FeatureEntry(feature.name, feature_anchor(domain, feature.name), Counts.of(feature.behaviours))


def _slug(name: str) -> str:
    """Lower-case ASCII words, and a hyphen; empty if a name has no such words, for instance in Korean."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = _OTHERS.sub("-", plain.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{words}-" if words else ""


def _digest(*names: str) -> str:
    """40 bits that distinguish names whose words are alike."""
    folded = "\0".join(" ".join(unicodedata.normalize("NFC", name).split()) for name in names)
    return hashlib.sha256(folded.encode(errors="surrogatepass")).hexdigest()[:10]
