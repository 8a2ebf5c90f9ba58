"""`testlist`: the inventory of one commit on the command line, or how two commits differ."""

import argparse
import io
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from testlist import LINUX_ONLY
from testlist.reports.formats import FORMATS

if TYPE_CHECKING:
    from testlist.arguments import CommandArguments

EPILOG = "Paths after -- are files, folders or patterns below PATH_OR_URL: testlist -- tests 'src/*_test.go'"

PARTS: Final = {
    "worktree": "instead of a commit: what stands in the work tree, with new files that are not ignored",
    "staged": "instead of a commit: what the next one has",
}
FLAGS: Final = {
    "--checks": "say what each test checks, and which cannot fail",
    "--exit-code": "exit with 1 if tests differ, or with --only if there are any; with 3 on errors",
    "--fail-on-empty": "exit with 1 if no test is listed",
    "--fail-on-skipped-files": "exit with 1 if a file could not be read",
    "--no-cache": "read everything again, and keep nothing",
    "--no-sandbox": "run git and the parsers without a sandbox",
    "--debug": "for authors of languages: say why files could not be read, outside of the sandbox",
    "--schema": "print the JSON Schema of --format json, and end",
    "--version": "print the versions of the package and of its rules, and end",
}


def program() -> int:
    """The command as it is installed: it cleans up when it is told to end, and prints what any terminal can show."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return main()


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one command line; the exit code."""
    if sys.platform != "linux":
        sys.stderr.write(f"{LINUX_ONLY}\n")
        return 2
    from testlist.sandbox import guard  # noqa: PLC0415 - it can be imported on Linux only

    words = list(sys.argv[1:] if argv is None else argv)
    end = words.index("--") if "--" in words else len(words)
    parser = _parser()
    given = parser.parse_args(words[:end])
    if given.version or given.schema:
        from testlist.about import schema, version_line  # noqa: PLC0415 - few ask for it
        from testlist.output import write  # noqa: PLC0415 - few ask for it

        return write([version_line() if given.version else schema()])
    guard.use_sandbox(on=not given.no_sandbox)
    guard.ready()  # it starts while the engine is imported: a fifth of the time that a small repository takes
    from testlist.command import run  # noqa: PLC0415 - while the launcher starts

    arguments = _arguments(given, words[end + 1 :])
    if arguments.mistake is not None:
        parser.error(arguments.mistake)
    code, said = run(given.path_or_url, arguments)
    if said is not None:
        sys.stderr.write(f"testlist: {said}\n")
    return code


def _arguments(given: argparse.Namespace, paths: Sequence[str]) -> "CommandArguments":
    from testlist.arguments import CommandArguments  # noqa: PLC0415 - while the launcher starts
    from testlist.disk_cache import user_folder  # noqa: PLC0415 - while the launcher starts

    return CommandArguments(
        given.commit,
        given.base,
        given.format,
        only=tuple(given.only),
        paths=tuple(paths),
        cache=None if given.no_cache else given.cache or user_folder(),
        part=given.part,
        debug=given.debug,
        checks=given.checks,
        exit_code=given.exit_code,
        fail_on_empty=given.fail_on_empty,
        fail_on_skipped=given.fail_on_skipped_files,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "testlist",
        description="List the tests of a Git repository, without running them.",
        epilog=EPILOG,
        usage="%(prog)s [options] [PATH_OR_URL] [-- PATH ...]",
    )
    add = parser.add_argument
    add("path_or_url", nargs="?", default=".", help="a folder in a repository (default: this one), or an https address")
    add("--commit", help="a commit, branch or tag, also HEAD~2; default: HEAD")
    part = parser.add_mutually_exclusive_group()
    for name, text in PARTS.items():
        part.add_argument(f"--{name}", action="store_const", const=name, dest="part", help=text)
    add("--base", "--compare", help="show how tests differ from this commit to the other, or in a range A..B or A...B")
    add("--only", action="append", default=[], metavar="FIELD=VALUE", help="as status=focused; repeatable")
    add("--format", choices=FORMATS, default="table")
    add("--cache", type=Path, metavar="DIR", help="keep what was read here instead of the user's cache folder")
    for name, text in FLAGS.items():
        add(name, action="store_true", help=text)
    return parser
