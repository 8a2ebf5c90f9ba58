"""The fixed words of a document, in the language of its sentences."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from app.domain.specification import Behaviour


@dataclass(frozen=True, slots=True)
class Words:
    """Words of one language.  Texts with braces are formats; statuses: without active, which is not marked."""

    language: str
    specification: str
    contents: str
    summary: str
    ungrouped_domain: str
    ungrouped_feature: str
    behaviours: str
    commit: str
    version: str
    generated: str
    fell_back: str
    empty: str
    statuses: MappingProxyType[str, str]

    def count(self, behaviours: int) -> str:
        """The number of behaviours in words."""
        text = self.behaviours.format(behaviours)
        return text.removesuffix("s") if behaviours == 1 and self.language == "en" else text

    def domain(self, name: str) -> str:
        """The heading of a domain; an invisible name counts as none."""
        return name if name.strip() else self.ungrouped_domain

    def feature(self, name: str) -> str:
        """The heading of a feature; an invisible name counts as none."""
        return name if name.strip() else self.ungrouped_feature

    def mark(self, behaviour: Behaviour) -> str:
        """The mark after a sentence for the status of its test; empty for an active one."""
        status = behaviour.subject.status
        return "" if status == "active" else self.statuses.get(status, status)


_ENGLISH = Words(
    language="en",
    specification="Specification of {}",
    contents="Contents",
    summary="Summary",
    ungrouped_domain="Not assigned to a domain",
    ungrouped_feature="Other behaviours",
    behaviours="{:,} behaviours",
    commit="Commit",
    version="Version {}",
    generated="Generated on {:%Y-%m-%d} by {}",
    fell_back="{:,} of {:,} sentences were written by the built-in generator because the model failed on them.",
    empty="This commit has no tests.",
    statuses=MappingProxyType(
        {"skipped": "skipped", "todo": "to do", "focused": "focused", "xfail": "expected to fail"}
    ),
)
_KOREAN = Words(
    language="ko",
    specification="{} 명세",
    contents="목차",
    summary="요약",
    ungrouped_domain="도메인 미분류",
    ungrouped_feature="기타 동작",
    behaviours="동작 {:,}개",
    commit="커밋",
    version="버전 {}",
    generated="{:%Y-%m-%d} 생성, 생성기: {}",
    fell_back="모델이 처리하지 못해 전체 문장 {1:,}개 중 {0:,}개를 내장 생성기가 작성했습니다.",
    empty="이 커밋에는 테스트가 없습니다.",
    statuses=MappingProxyType({"skipped": "건너뜀", "todo": "예정", "focused": "단독 실행", "xfail": "실패 예상"}),
)
_ALL = {words.language: words for words in (_ENGLISH, _KOREAN)}


def words(language: str) -> Words:
    """The words of a language, or English if it has none.  language: a tag such as `en` or `ko-KR`."""
    return _ALL.get(language.lower().partition("-")[0], _ENGLISH)
