"""Which files of two inventories belong together.  Time grows with the number of rows, hardly faster."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from testlist.reports.common_keys import common_keys

#: a test that more files have than this tells nothing about which of them is which
COMMON: Final = 16
#: share of tests that two files must have in common to be the same file under another name
ALIKE: Final = 0.5


class File(Protocol):
    """What is known of a file."""

    @property
    def blob_id(self) -> str:
        """Its content."""

    @property
    def names(self) -> frozenset[int]:
        """What its tests are called: a number for each name."""


def likely_files(gone: Mapping[str, File], come: Mapping[str, File]) -> list[tuple[str, str]]:
    """Files that were renamed: of the same content first, then with mostly the same tests."""
    pairs = list(_same_content(gone, come))
    old = gone.keys() - {path for path, _ in pairs}
    new = come.keys() - {target for _, target in pairs}
    for _, path, target in sorted(_shares(gone, come, old, new)):
        if path in old and target in new:
            old -= {path}
            new -= {target}
            pairs.append((path, target))
    return pairs


def _same_content(gone: Mapping[str, File], come: Mapping[str, File]) -> Iterator[tuple[str, str]]:
    """The files of one content and name, which belong together."""
    kept = {file.blob_id for file in gone.values()} & {file.blob_id for file in come.values()}
    by_name: dict[tuple[str, str], deque[str]] = defaultdict(deque)
    by_blob: dict[str, deque[str]] = defaultdict(deque)
    for target, file in come.items():
        if file.blob_id in kept:
            by_name[file.blob_id, target.rpartition("/")[2]].append(target)
    left = []
    for path, file in gone.items():
        if file.blob_id not in kept:
            continue
        same = by_name[file.blob_id, path.rpartition("/")[2]]
        if same:
            yield path, same.popleft()
        else:
            left.append(path)
    for (blob_id, _), targets in by_name.items():
        by_blob[blob_id].extend(targets)
    for path in left:
        if by_blob[gone[path].blob_id]:
            yield path, by_blob[gone[path].blob_id].popleft()


def _shares(
    gone: Mapping[str, File], come: Mapping[str, File], old: Iterable[str], new: Iterable[str]
) -> Iterator[tuple[float, str, str]]:
    """(negative share, path, path there) of files with enough tests in common."""
    kept = common_keys(_names(gone, old), _names(come, new))
    if not kept:
        return
    paths = sorted(old)
    sizes = [len(gone[path].names) for path in paths]
    # most names are of one file: a list for each of 100,000 would take 20 MB
    first: dict[int, int] = {}
    further: dict[int, list[int]] = defaultdict(list)
    for place, path in enumerate(paths):
        for name in gone[path].names & kept:
            if first.setdefault(name, place) != place:
                further[name].append(place)
    for target in sorted(new):
        names = come[target].names
        known = [name for name in names & kept if len(further.get(name, ())) < COMMON]
        common = Counter(place for name in known for place in (first[name], *further.get(name, ())))
        for place, count in common.items():
            share = 2 * count / (len(names) + sizes[place])
            if share >= ALIKE:
                yield -share, paths[place], target


def _names(files: Mapping[str, File], paths: Iterable[str]) -> Iterator[int]:
    return (name for path in paths for name in files[path].names)
