from collections.abc import Callable

import pytest

from app.domain.specification import UNGROUPED, Place, Subject
from app.specview.builtin import built_in
from app.specview.generator import Part

MakeSubject = Callable[..., Subject]
Say = Callable[..., str]


@pytest.fixture
def make_subject() -> MakeSubject:
    def make(
        name: str, *suites: str, framework: str = "pytest", file: str = "tests/test_cart.py", line: int = 1
    ) -> Subject:
        return Subject(file, framework, suites, name, line, "active")

    return make


@pytest.fixture
def say(make_subject: MakeSubject) -> Say:
    def sentence(
        name: str, *suites: str, framework: str = "pytest", language: str = "en", file: str = "tests/test_cart.py"
    ) -> str:
        subject = make_subject(name, *suites, framework=framework, file=file)
        [phrased] = built_in().phrase([Part(Place(UNGROUPED, UNGROUPED), [subject])], language)
        [(found, text)] = phrased.sentences
        assert found is subject
        return text

    return sentence
