"""Read environment variables by the names of settings, and report those that only look like settings."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path

from app.errors import BadSetting

#: Names that look like settings but are not: marks that we set ourselves, and the tests' own.
OTHERS = frozenset({"FAIRLANE_UP", "FAIRLANE_TEST_RUN", "FAIRLANE_KILLS"})
#: How settings begin; `FAIRNES_` and the like are similar enough to some setting.
PREFIXES = re.compile(
    r"(FAIRLANE|FAIRNESS?|ANALY[SZ]ER_QUEUE|SPECGEN_QUEUE|QUEUE_LENDING|QUOTA|RESERVATION|DATABASE|OBJECT|LLM|ENCRYPTION|WEBHOOK)_"
)
#: For difflib: one wrong letter in a short name is allowed, another word is not.
NEAR_WITH_PREFIX, NEAR = 0.7, 0.88


def given(fields: Collection[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The values that are set, by field; an empty variable is not set.  `NAME_FILE` names a file with the value.

    Raises: BadSetting with every unusable file, and every setting that is given twice.
    """
    values, faults = dict[str, str](), list[str]()
    for field in fields:
        name = field.upper()
        value, path = environ.get(name, ""), environ.get(f"{name}_FILE", "")
        if value and path:
            faults.append(f"{name} and {name}_FILE={path!r}: expected only one of the two")
            continue
        try:
            if found := _content(f"{name}_FILE", path) if path else value:
                values[field] = found
        except BadSetting as bad:
            faults.append(bad.detail)
    if faults:
        raise BadSetting("; ".join(faults))
    return values


def strangers(fields: Collection[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """Sentences about variables that only look like settings, each with the most similar setting, if there is one.

    They are not refused, because the environment is not ours alone.  fields: of the settings.
    """
    environ = os.environ if environ is None else environ
    known = [field.upper() for field in fields]
    names = {*known, *(f"{name}_FILE" for name in known), *OTHERS}
    found = list[str]()
    for name in sorted(name for name, value in environ.items() if value and name not in names):
        ours = bool(PREFIXES.match(name))
        near = get_close_matches(name.removesuffix("_FILE"), known, 1, NEAR_WITH_PREFIX if ours else NEAR)
        if ours or near:
            found.append(f"{name} is not a setting{f'; did you mean {near[0]}?' if near else ''}")
    return found


def _content(name: str, path: str) -> str:
    try:
        content = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadSetting(f"{name}={path!r}: {error.strerror}") from error
    except UnicodeDecodeError:  # its traceback would show the bytes
        raise BadSetting(f"{name}={path!r}: expected a UTF-8 text file") from None
    except ValueError:
        raise BadSetting(f"{name}={path!r}: expected the path of a file") from None
    if not content:
        raise BadSetting(f"{name}={path!r}: the file is empty")
    return content
