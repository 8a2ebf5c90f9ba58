"""Where a called name of a JavaScript file comes from."""

from collections.abc import Iterator, Mapping

from testlist.language import Candidate
from testlist.languages.javascript.resolve import COMPILED, ENDINGS
from testlist.paths import Paths
from testlist.project import folder_of, joined


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Where a called name comes from; nothing if it comes from elsewhere.

    imports: as `BodiesFact` has them, of relative modules alone.
    """
    first, _, rest = called.partition(".")
    module, _, name = imports.get(first, "").rpartition(":")
    file = _file(joined(folder_of(path), module), paths) if module else ""
    inner = name if name != "default" else first
    if file:
        yield Candidate(file, f"{inner}.{rest}" if rest else inner, certain=True)


def _file(target: str, paths: Paths) -> str:
    stem, dot, suffix = target.rpartition(".")
    spelt = [f"{stem}{ending}" for ending in COMPILED.get(f"{dot}{suffix}", ())]
    return next((one for one in (*(f"{target}{ending}" for ending in ENDINGS), *spelt) if one in paths), "")
