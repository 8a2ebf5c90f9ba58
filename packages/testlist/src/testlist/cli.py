"""`testlist PATH_OR_URL`: the inventory of one commit on the command line, or how two commits differ."""

import argparse
import sys
from collections.abc import Sequence

from testlist.reports.listing import FORMATS
from testlist.sandbox import guard


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one command line; the exit code."""
    parser = argparse.ArgumentParser(
        "testlist", description="List the tests of a Git repository, without running them."
    )
    parser.add_argument("path_or_url", help="a repository on this machine, or its https address")
    parser.add_argument("--commit", help="a commit, branch or tag, also HEAD~2; default: HEAD")
    parser.add_argument(
        "--compare", help="show how the tests differ between the commit and this one, or in a range A...B"
    )
    parser.add_argument(
        "--exit-code", action="store_true", help="with --compare: exit with 1 if tests differ, with 3 on errors"
    )
    parser.add_argument("--format", choices=FORMATS, default="table")
    parser.add_argument("--no-sandbox", action="store_true", help="run git and the parsers without a sandbox")
    given = parser.parse_args(argv)
    guard.use_sandbox(on=not given.no_sandbox)
    guard.ready()  # it starts while the engine is imported: a fifth of the time that a small repository takes
    from testlist.command import CommandArguments, run  # noqa: PLC0415 - see above

    arguments = CommandArguments(given.commit, given.compare, given.format, given.exit_code)
    if arguments.mistake is not None:
        parser.error(arguments.mistake)
    code, said = run(given.path_or_url, arguments)
    if said is not None:
        sys.stderr.write(f"testlist: {said}\n")
    return code
