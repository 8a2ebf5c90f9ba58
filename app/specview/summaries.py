"""A summary of a specification: its largest domains and features by name, without numbers that soon are wrong."""

from __future__ import annotations

from app.domain.specification import Domain, Specification
from app.specview.particles import with_particle

#: how many are named before "others"
NAMED = 4


def summary(specification: Specification) -> str:
    """Two sentences; empty where no domain has a name."""
    domains = [domain for domain in specification.domains if domain.name]
    if not domains:
        return ""
    largest = sorted(domains, key=lambda domain: -_size(domain))
    features = [
        feature.name for feature in sorted(largest[0].features, key=lambda f: -len(f.behaviours)) if feature.name
    ]
    names = [domain.name for domain in largest]
    return _KINDS[specification.language](names, features)


def _size(domain: Domain) -> int:
    return sum(len(feature.behaviours) for feature in domain.features)


def _english(domains: list[str], features: list[str]) -> str:
    first = f"The tests describe {_listed(domains, 'other parts')}."
    if not features or (len(domains) == 1 and not features[1:]):
        return first
    return f"{first} The largest part is {domains[0]}, with {_listed(features, 'other features')}."


def _listed(names: list[str], others: str) -> str:
    shown = names[:NAMED] + ([others] if len(names) > NAMED else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _korean(domains: list[str], features: list[str]) -> str:
    more = " 등" if len(domains) > NAMED else ""
    listed = ", ".join(domains[:NAMED])
    first = f"이 테스트들은 {listed}{more}의 동작을 설명합니다."
    if not features or (len(domains) == 1 and not features[1:]):
        return first
    further = " 등" if len(features) > NAMED else ""
    named = ", ".join(features[:NAMED])
    named = f"{named}{further}을" if further else with_particle(named, "을")
    return f"{first} 가장 큰 부분은 {domains[0]}이며 {named} 다룹니다."


_KINDS = {"en": _english, "ko": _korean}
