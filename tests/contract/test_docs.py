"""The documents name what is there: settings, commands, problems, states, tests and each other."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from testlist.errors import CODES

from app.cli import main
from app.domain.lifecycle import MOVES, WORKER_LOST, Status
from app.errors import Problem
from app.services.operations.sweep import BURIED
from app.settings import Settings, load
from app.web.core.api import api

pytestmark = pytest.mark.rule

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *DOCS.rglob("*.md"),
    *(ROOT / "packages").rglob("*.md"),
    ROOT / "SECURITY.md",
    ROOT / "CONTRIBUTING.md",
]
RECORDS = sorted((DOCS / "adr").glob("[0-9]*.md"))
#: in the head of a record: what it supersedes, up to the end of the clause, and which record supersedes it
SUPERSEDES = re.compile(r"(?:Supersedes|replaces) (.+?)(?:\. |\.\n|; |\Z)", re.DOTALL)
SUPERSEDED = re.compile(r"(?:superseded(?: in part)?|replaced) by \[(\d{4})\]")
#: pages that were never part of this repository; written in parts, since this file is searched as well
ABSENT = re.compile(r"\b(?:R[U]LES|C[O]NTRACT|D[E]SIGN)\b|broker[-]facts|\bADR[-]\d|\([C]\d+\)")
#: In what cites something; other files are not taken apart, which takes four seconds of all.
CITING = re.compile(rf"{ABSENT.pattern}|\bdocs/|\bH\d")
#: where one is defined; a regular expression, as parsing all tests takes seconds
TEST = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)
HAZARD = re.compile(r"^\*\*H(\d+) .*?(?=\n\n|\n##|\Z)", re.MULTILINE | re.DOTALL)


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows(name: str) -> Iterator[list[str]]:
    """Cells of every row of every table of a page."""
    for line in text(name).splitlines():
        if line.startswith("| "):
            yield [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line.strip("|"))]


def commands(group: click.Group, *above: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        else:
            yield " ".join((*above, name))


def problems(kind: type[Problem] = Problem) -> Iterator[type[Problem]]:
    yield kind
    for child in kind.__subclasses__():
        yield from problems(child)


def test_every_setting_is_documented_with_its_default() -> None:
    told = {row[0]: row[1] for row in rows("settings.md") if re.fullmatch(r"[A-Z][A-Z_]+", row[0])}
    assert set(told) == {field.upper() for field in Settings.model_fields}
    for name, default in told.items():
        given = {} if default == "none" else {name: default}
        field = Settings.model_fields[name.lower()]
        assert getattr(load(given), name.lower()) == field.default, name
        assert (default == "none") == (field.default is None), name


@pytest.mark.parametrize("command", sorted(commands(main)))
def test_every_command_is_documented(command: str) -> None:
    assert re.search(rf"`fairlane {command}\b", text("operating.md"))


def test_every_problem_is_documented_with_its_status() -> None:
    told = {row[0].removeprefix("/problems/"): row[1] for row in rows("api.md") if row[0].startswith("/problems/")}
    own = {kind.slug: str(kind.status) for kind in problems() if kind.__module__ == Problem.__module__}
    assert told | {"bad-setting": "500"} == own


def test_every_error_code_is_documented() -> None:
    ours = {"time_limit", "out_of_memory", "internal_error", WORKER_LOST.code, BURIED.code}
    assert {code for code in ours | set(CODES) if f"`{code}`" not in text("api.md")} == set()


def test_every_move_of_a_job_is_in_the_table_of_states() -> None:
    states = {status.value for status in Status}
    told = {row[0]: set(filter(None, row[1].split(", "))) for row in rows("architecture.md") if row[0] in states}
    assert told == {status.value: {to.value for to in moves} for status, moves in MOVES.items()}


def test_every_state_is_in_the_drawing() -> None:
    drawing = text("lifecycle.svg")
    assert {status.value for status in Status if f">{status.value}</text>" not in drawing} == set()


def test_every_table_of_the_schema_is_in_the_architecture() -> None:
    made = {
        name
        for file in (ROOT / "migrations" / "versions").glob("[0-9]*.sql")
        for name in re.findall(r"CREATE (?:UNLOGGED )?TABLE (\w+)", file.read_text(encoding="utf-8"))
    }
    assert len(made) > 30
    assert {name for name in made if f"`{name}`" not in text("architecture.md")} == set()


def test_every_call_of_the_api_has_an_example() -> None:
    app = pytest.importorskip("flask").Flask("app")
    app.register_blueprint(api)
    page = re.sub(r"\$\w+|local/-/shop|\?[^\"]*", "X", text("api.md"))
    paths = {re.sub(r"<[^>]+>", "X", rule.rule.removeprefix("/api/v1")) for rule in app.url_map.iter_rules()}
    paths = {path.replace("/X/X/X", "/X") for path in paths if not path.startswith("/static")}
    assert {path for path in paths if f"X{path}" not in page.replace("$API", "X")} == set()


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.name)
def test_a_decision_is_short_complete_and_in_the_index(record: Path) -> None:
    lines = record.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    number, _, title = lines[0].removeprefix("# ").partition(" ")
    assert f"| [{number}]({record.name}) | {title} |" in text("adr/README.md")
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert headings[:2] == ["Context", "Decision"]
    assert headings[2].startswith("Why")
    assert headings[3:] == ["Considered", "Consequences", "Tests"]


def superseding(head: str) -> set[str]:
    """The records that one supersedes, by its head: all before its context."""
    return {number for words in SUPERSEDES.findall(head) for number in re.findall(r"\[(\d{4})\]\(", words)}


def test_a_superseded_decision_names_the_new_one_in_its_status() -> None:
    heads = {path.name[:4]: path.read_text(encoding="utf-8").partition("\n## ")[0] for path in RECORDS}
    newer = {(old, new) for new, head in heads.items() for old in superseding(head)}
    older = {(old, new) for old, head in heads.items() for new in SUPERSEDED.findall(head)}
    assert len(newer) > 4
    assert newer == older


def test_a_record_supersedes_all_that_its_sentence_links_and_no_other() -> None:
    assert superseding(
        "Status: accepted; extends [0001](x)\n\nSupersedes a of [0002](x), b of\n[0003](x). [0004](x)"
    ) == {
        "0002",
        "0003",
    }
    assert superseding("Status: accepted; superseded in part by [0005](x)") == set()


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [path.name[:4] for path in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_and_named_files_exist(page: Path) -> None:
    words = page.read_text(encoding="utf-8")
    links = [target for target in re.findall(r"\]\(([^)#\s]+)", words) if "://" not in target]
    named = re.findall(r"`((?:app|tasks|tests|migrations|docker)/[\w/.-]+)", words)
    missing = [target for target in links if not (page.parent / target).exists()]
    # a segment in capitals stands for any name
    missing += [name for name in named if not re.search(r"/[A-Z]+\b", name) and not (ROOT / name).exists()]
    assert missing == []


def prose(path: Path) -> str:
    """What is written for people: of Python that cites something, all but its names."""
    words = (ROOT / path).read_bytes().decode("utf-8", errors="replace")
    if path.suffix != ".py" or not CITING.search(words):
        return words
    found = tokenize.generate_tokens(io.StringIO(words).readline)
    return "\n".join(token.string for token in found if token.type != tokenize.NAME)


@pytest.fixture(scope="module")
def cited(sources: list[Path]) -> dict[Path, str]:
    """The prose of every file but pictures and samples of other people's code."""
    others = {".svg", ".png", ".sample"}
    return {path: prose(path) for path in sources if path.suffix not in others}


def test_nothing_cites_a_page_that_is_not_here(cited: dict[Path, str]) -> None:
    founding = Path("docs/adr/README.md")  # says what the founding records asked for
    found = {path.as_posix(): match[0] for path, text in cited.items() if (match := ABSENT.search(text))}
    assert found.pop(founding.as_posix()).startswith("ADR-")
    assert found == {}


def test_cited_pages_decisions_and_hazards_exist(cited: dict[Path, str]) -> None:
    records = {path.name[:4] for path in RECORDS}
    hazards = {number for number, _ in known_hazards()}
    missing = set()
    for path, text in cited.items():
        missing |= {(path, name) for name in re.findall(r"\bdocs/adr/(\d{4})\b", text) if name not in records}
        if path.suffix != ".md":
            own = ROOT.joinpath(*path.parts[:2])  # of a package, which names its own pages
            pages = re.findall(r"(?:\bpackages/[\w-]+/)?\bdocs/[\w/-]+\.md\b", text)
            missing |= {(path, name) for name in pages if not (ROOT / name).exists() and not (own / name).exists()}
        if numbers := [int(number) for number in re.findall(r"(?:\(|hazards\.md |, )H(\d+)\b", text)]:
            missing |= {(path, number) for number in numbers if number not in hazards}
            missing |= set() if "broker-hazards" in text else {(path, "no name of the page")}
    assert missing == set()


def known_hazards() -> list[tuple[int, str]]:
    return [(int(match[1]), match[0]) for match in HAZARD.finditer(text("broker-hazards.md"))]


def test_hazards_are_numbered_without_a_gap_and_say_what_is_done_and_what_shows_it() -> None:
    found = known_hazards()
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    for number, words in found:
        assert "\n*Here:* " in words, number
        assert re.search(r"\n\*Shown by\* (`test_|no test)", words), number


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_tests_exist(page: Path, every_test: set[str]) -> None:
    named = re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if name not in every_test] == []


@pytest.fixture(scope="module")
def every_test(sources: list[Path]) -> set[str]:
    files = [path for path in sources if "tests" in path.parts and path.suffix == ".py"]
    return {name for path in files for name in TEST.findall((ROOT / path).read_text(encoding="utf-8"))}
