"""mocha: calls of it and specify; files by `spec` of .mocharc or package.json, and by what its scripts are given."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.languages.javascript.config_compiled import compiled
from testlist.languages.javascript.config_files import configs, manifests, table
from testlist.languages.javascript.config_scripts import SUFFIXES, commands, files, is_loose, lines, operands, values
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import possible
from testlist.project import Project, folder_of, joined

#: options followed by a value that is no spec
VALUED: Final = frozenset(
    {"-r", "--require", "-t", "--timeout", "-s", "--slow", "-R", "--reporter", "-O", "--reporter-option",
     "--reporter-options", "-u", "--ui", "-g", "--grep", "-f", "--fgrep", "-j", "--jobs", "--config", "--package",
     "--file", "--extension", "--ignore", "--exclude", "--retries", "--watch-files", "--watch-ignore", "-n",
     "--node-option", "--import", "--loader", "--spec", "--opts", "--compilers", "-p", "--project"}
)  # fmt: skip
SHELLS: Final = frozenset({"node", "sh", "bash", "zx", "tsx", "ts-node"})
DEFAULT: Final = "test"


def areas(project: Project) -> Iterator[Area]:
    """Every configuration and every script that starts mocha."""
    specified: set[str] = set()
    for folder, data in configurations(project):
        if strings(data.get("spec")):
            specified.add(folder)
        yield from configured(project, folder, data)
    for path in manifests(project):
        scripts = table(table(project.data(path)).get("scripts"))
        for words in commands(scripts, "mocha"):
            yield from started(project, folder_of(path), words, specified)
        if any(joined(folder_of(path), file) in project.paths for file in programs(scripts)):
            yield Area(folder_of(path), (), open=True)


def programs(scripts: dict[str, Any]) -> Iterator[str]:
    """Files of the repository that scripts for tests start, which may start mocha in their turn."""
    commands = [text for name, text in scripts.items() if name.startswith("test") and isinstance(text, str)]
    for words in (words for text in commands for words in lines(text) if words):
        given = words[1:] if words[0] in SHELLS else words
        yield from given[:1]


def configurations(project: Project) -> Iterator[tuple[str, dict[str, Any]]]:
    """Folders and options of every configuration."""
    for path, data in configs(project, ".mocharc"):
        yield folder_of(path), table(data)
    for path in manifests(project):
        if isinstance(data := table(project.data(path)).get("mocha"), dict):
            yield folder_of(path), data
    for path, words in configs(project, "mocha.opts"):
        given = strings(words)
        specs = operands(given, VALUED) + values(given, "--spec")
        yield folder_of(folder_of(path)), {"spec": specs, "recursive": "--recursive" in given}


def configured(project: Project, folder: str, data: dict[str, Any]) -> Iterator[Area]:
    """The files a configuration means."""
    specs = strings(data.get("spec")) or default(project, folder)
    ignored = strings(data.get("ignore")) + strings(data.get("exclude"))
    if specs:
        yield area(project, folder, specs, ignored, deep=data.get("recursive") in (True, "true"))


def started(project: Project, folder: str, words: list[str], specified: set[str]) -> Iterator[Area]:
    """The files a command line means; without any, those of the configuration or the default."""
    given = operands(words, VALUED) + values(words, "--spec")
    config = next((joined(folder, one) for one in values(words, "--config")), "")
    home = folder_of(config)
    if config in project.paths and config not in project.configs:
        yield Area(folder, (), open=True)
    elif given or not {folder, home} & specified:
        ignored = values(words, "--ignore", "--exclude")
        if specs := given or default(project, folder):
            yield area(project, folder, specs, ignored, deep="--recursive" in words)


def default(project: Project, folder: str) -> list[str]:
    """The folder that is read without any configuration; none if it does not exist."""
    return [DEFAULT] if joined(folder, DEFAULT) in project.folders else []


def area(project: Project, folder: str, specs: list[str], ignored: list[str], *, deep: bool) -> Area:
    """Files and patterns as they stand; a folder means the files in it, but none of them where it is ignored."""
    include = [pattern for spec in specs for pattern in (*files(spec, deep=deep), f"{spec}.{SUFFIXES}")]
    exclude = tuple(joined(folder, one) for one in ignored)
    return Area(folder, compiled(project, folder, include), exclude, loose=is_loose(specs))


MOCHA: Final = framework(
    Runner(
        name="mocha",
        modules=frozenset({"mocha"}),
        packages=frozenset({"mocha"}),
        usual=possible,
    ),
    areas,
)
