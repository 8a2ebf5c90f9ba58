"""`python -m bench.inventory.small [--repositories N] [--without] [--before REVISION]`: many small repositories.

One process takes each inventory as this tree does; others, if asked, without the sandbox, and as an earlier revision
did. They take turns, repository by repository, in an order that turns as well.  The last line is JSON.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: a worker in small: a path in, seconds and tests out
TAKER = """
import sys, tempfile, time
from importlib import import_module
from pathlib import Path
sources = Path("packages/testlist/src").absolute()
if sources.exists():
    sys.path.insert(0, str(sources))
engine = import_module("testlist" if sources.exists() else "tasks.inventory")  # where it was before
Source, fetched, inventory, resolve = engine.Source, engine.fetched, engine.inventory, engine.resolve
if "off" in sys.argv:
    import_module("testlist.sandbox.guard").use_sandbox(on=False)
with tempfile.TemporaryDirectory() as work:
    for line in sys.stdin:
        began = time.perf_counter()
        source = Source.local(Path(line.strip()))
        commit, _ = resolve(source, None)
        with fetched(source, commit, workdir=Path(work)) as repository:
            tests = len(list(inventory(repository).tests))
        print(time.perf_counter() - began, tests, flush=True)
"""
FILES = {
    "package.json": '{"devDependencies": {"jest": "29"}}\n',
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    **{f"tests/test_{n}.py": "".join(f"def test_{k}():\n    assert {k}\n\n\n" for k in range(9)) for n in range(3)},
    **{f"src/{n}.test.js": "".join(f"it('does {k}', () => {{}})\n" for k in range(9)) for n in range(3)},
    **{f"src/{n}.js": "export const a = 1\n" for n in range(4)},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.inventory.small", description=__doc__)
    parser.add_argument("--repositories", type=int, default=1_000)
    parser.add_argument("--before", help="a revision of this repository")
    parser.add_argument("--without", action="store_true", help="also without the sandbox")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = {"sandbox": (ROOT, "on")}
        if given.without:
            trees["without"] = (ROOT, "off")
        if given.before:
            trees["before"] = (checked_out(given.before, Path(folder, "before")), "as it was")
        print(json.dumps(_measure([_made(Path(folder), n) for n in range(given.repositories)], trees)))


def _measure(repositories: list[Path], trees: dict[str, tuple[Path, str]]) -> dict[str, float]:
    takers = {name: _taker(tree, how) for name, (tree, how) in trees.items()}
    seconds: dict[str, list[float]] = {name: [] for name in takers}
    for turn, repository in enumerate(repositories):
        names = list(takers)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            took, tests = _ask(takers[name], repository)
            if tests != 54:
                raise ValueError(f"{name} found {tests} tests")
            if turn:  # the first one starts what is started once
                seconds[name].append(took)
    for taker in takers.values():
        taker.communicate()
    figures = {f"{name} median ms": statistics.median(found) * 1e3 for name, found in seconds.items()}
    figures |= {f"{name} total s": sum(found) for name, found in seconds.items()}
    for name in seconds.keys() - {"sandbox"}:
        pairs = zip(seconds["sandbox"], seconds[name], strict=True)
        figures[f"sandbox / {name}"] = statistics.median(ours / theirs for ours, theirs in pairs)
        figures[f"sandbox / {name}, total"] = sum(seconds["sandbox"]) / sum(seconds[name])
    return {name: round(figure, 3) for name, figure in figures.items()}


def _taker(tree: Path, how: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", TAKER, how]
    return subprocess.Popen(argv, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask(taker: "subprocess.Popen[str]", repository: Path) -> tuple[float, int]:
    if taker.stdin is None or taker.stdout is None:
        raise ValueError("started without pipes")
    print(repository, file=taker.stdin, flush=True)
    took, tests = taker.stdout.readline().split()
    return float(took), int(tests)


def checked_out(revision: str, folder: Path) -> Path:
    """The tree of a revision of this repository, in a new folder."""
    folder.mkdir()
    with subprocess.Popen(["git", "-C", str(ROOT), "archive", revision], stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    return folder


def _made(folder: Path, number: int) -> Path:
    """A repository whose contents no other one has."""
    repository = folder / f"repository-{number}"
    subprocess.run(["git", "init", "--quiet", "--bare", str(repository)], check=True)
    stream = ["commit refs/heads/master\ncommitter a <a@example.org> 0 +0000\ndata 1\n.\n"]
    for path, content in FILES.items():
        sign = "#" if path.endswith(("py", "toml")) else "//"
        marked = content if path == "package.json" else f"{content}{sign} {number}\n"
        stream.append(f"M 644 inline {path}\ndata {len(marked.encode())}\n{marked}\n")
    argv = ["git", "-C", str(repository), "fast-import", "--quiet"]
    subprocess.run(argv, input="".join(stream).encode(), check=True)
    subprocess.run(["git", "-C", str(repository), "symbolic-ref", "HEAD", "refs/heads/master"], check=True)
    return repository


if __name__ == "__main__":
    main()
