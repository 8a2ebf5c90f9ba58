"""Where a called name of a JavaScript file comes from."""

from collections.abc import Collection, Mapping

from testlist.languages.javascript.resolve import COMPILED, ENDINGS
from testlist.project import folder_of, joined


def home(path: str, called: str, imports: Mapping[str, str], paths: Collection[str]) -> tuple[str, str]:
    """The file of the repository, and the name in it; two empty texts for what comes from elsewhere.

    imports: as `BodiesFact` has them, of relative modules alone.
    """
    first, _, rest = called.partition(".")
    module, _, name = imports.get(first, "").rpartition(":")
    if not module:
        return "", ""
    file = _file(joined(folder_of(path), module), paths)
    inner = name if name != "default" else first
    return (file, f"{inner}.{rest}" if rest else inner) if file else ("", "")


def _file(target: str, paths: Collection[str]) -> str:
    stem, dot, suffix = target.rpartition(".")
    spelt = [f"{stem}{ending}" for ending in COMPILED.get(f"{dot}{suffix}", ())]
    return next((one for one in (*(f"{target}{ending}" for ending in ENDINGS), *spelt) if one in paths), "")
