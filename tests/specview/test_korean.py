import pytest

from app.specview.particles import with_particle
from tests.specview.conftest import Say


@pytest.mark.parametrize(
    ("suites", "name", "sentence"),
    [
        ((), "should return undefined", "“undefined”를 반환합니다."),
        ((), "should not show upgrade prompt", "“upgrade prompt”를 표시하지 않습니다."),
        ((), "can parse URL", "URL을 파싱할 수 있습니다."),
        ((), "cannot open file", "“file”을 열 수 없습니다."),
        ((), "throws error", "“error”를 던집니다."),
        (
            ("#run", "when the list is empty"),
            "returns false",
            "“the list is empty” 조건에서 `#run`은 “false”를 반환합니다.",
        ),
        ((), "로그인 시 토큰을 반환한다", "로그인 시 토큰을 반환한다."),
        ((), "로그인 실패", "“로그인 실패”를 확인합니다."),
        ((), "cookie jar", "“cookie jar” 항목."),
        ((), "should get called", "“should get called” 항목을 확인합니다."),
        ((), "enter exit", "“enter exit” 항목을 확인합니다."),
    ],
)
def test_sentences(say: Say, suites: tuple[str, ...], name: str, sentence: str) -> None:
    assert say(name, *suites, framework="vitest", language="ko") == sentence


def test_a_function_name_claims_no_outcome(say: Say) -> None:
    assert say("test_delete_missing_key", language="ko") == "“missing key” 삭제를 다룹니다."


@pytest.mark.parametrize(
    ("word", "particle", "told"),
    [
        ("값", "을", "값을"),
        ("오류", "을", "오류를"),
        ("URL", "을", "URL을"),
        ("API", "은", "API는"),
        ("404", "을", "404를"),
        ("3", "이", "3이"),
        ("서울", "으로", "서울로"),
        ("집", "으로", "집으로"),
        ("“token”", "을", "“token”을"),
        ("`set`", "을", "`set`을(를)"),
        ("?", "은", "?은(는)"),
    ],
)
def test_particles(word: str, particle: str, told: str) -> None:
    assert with_particle(word, particle) == told
