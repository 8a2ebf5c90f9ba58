"""Repository addresses: what a person may paste, and what it means (docs/api.md)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from app.errors import InvalidInput, Message

LOCAL_HOST = "local"
GITHUB = "github.com"
FORMS = "https://HOST/OWNER/NAME, git@HOST:OWNER/NAME.git, OWNER/NAME or local:NAME"

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}|\.[A-Za-z0-9_-][A-Za-z0-9._-]{0,98}")
_SHA = re.compile(r"[0-9a-f]{40}")
_SHORT = re.compile(r"[0-9a-f]{4,40}")
_REF = re.compile(r"(?!-)(?!.*(\.\.|//|@\{|\.lock(/|$)))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])")
_SCP = re.compile(r"git@(?P<host>[A-Za-z0-9.-]+):(?P<path>[^\s]+)")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository. host is in lower case, owner and name as written; local ones have host `local` and owner `-`."""

    host: str
    owner: str
    name: str

    @property
    def is_local(self) -> bool:
        """Whether the repository is below LOCAL_REPOS_ROOT."""
        return self.host == LOCAL_HOST

    @property
    def url(self) -> str:
        """The address as the service shows it and Git fetches it; it contains no secret."""
        return f"local:{self.name}" if self.is_local else f"https://{self.host}/{self.owner}/{self.name}"

    def unique_key(self, commit: str) -> str:
        """Key of the one unfinished analysis that a repository and commit may have; case does not matter."""
        return f"analysis:{self.host}/{self.owner}/{self.name}@{commit}".lower()


@dataclass(frozen=True, slots=True)
class SubmittedAddress:
    """A parsed submission.  At most one of ref and commit comes from the address itself."""

    repository: Repository
    ref: str | None = None
    commit: str | None = None


def parse_address(text: str, allowed_hosts: Collection[str]) -> SubmittedAddress:
    """Read an address in any of the documented forms.  Raises: InvalidInput with the expected forms."""
    text = text.strip()
    if not text:
        raise _refused(Message("The repository address is empty."))
    if len(text) > 500 or any(ord(c) < 0x21 or ord(c) == 0x7F for c in text):
        raise _refused(Message("The repository address is too long or contains spaces or control characters."))
    if text.startswith("-"):
        raise _refused(Message("The repository address starts with '-'."))
    if text.startswith("local:"):
        return SubmittedAddress(Repository(LOCAL_HOST, "-", _segment(text.removeprefix("local:"), "name")))
    if match := _SCP.fullmatch(text):
        return _address(match["host"], match["path"].strip("/").split("/"), allowed_hosts)
    if "://" in text:
        return _from_url(text, allowed_hosts)
    parts = text.split("/")
    if "::" in text or len(parts) != 2:
        raise _refused(Message("The repository address has none of the known forms."))
    return _address(GITHUB, parts, allowed_hosts)


def check_ref(ref: str) -> str:
    """A branch or tag name that Git itself would accept.  Raises: InvalidInput."""
    if not _REF.fullmatch(ref) or not ref.isprintable():
        raise InvalidInput(
            Message("%(ref)s is not a ref", ref=repr(ref)),
            errors=[{"pointer": "/ref", "detail": "expected the name of a branch or tag"}],
        )
    return ref


def check_commit(commit: str, *, may_be_short: bool = False) -> str:
    """A commit id in lower case.  may_be_short: also the beginning of one, which a local repository finds.

    Raises: InvalidInput.
    """
    commit = commit.lower()
    if not _SHA.fullmatch(commit) and not (may_be_short and _SHORT.fullmatch(commit)):
        allowed = "expected 40 hexadecimal digits; a Git host does not find a commit by the beginning of its id"
        if may_be_short:
            allowed = "expected a commit id, or at least its first 4 hexadecimal digits"
        raise InvalidInput(
            Message("%(commit)s is not a commit id", commit=repr(commit[:60])),
            errors=[{"pointer": "/commit", "detail": allowed}],
        )
    return commit


def _from_url(text: str, allowed_hosts: Collection[str]) -> SubmittedAddress:
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise _refused(Message("The repository address is not a URL.")) from error
    if url.scheme != "https":
        raise _refused(
            Message("The repository address has the scheme %(scheme)s; only https is allowed.", scheme=repr(url.scheme))
        )
    if url.username is not None or url.password is not None or "@" in url.netloc:
        raise _refused(
            Message(
                "The repository address contains a user or password; private access is given to an account, never in a"
                " URL."
            )
        )
    if not url.netloc.isascii():  # lower() alone would turn some letters of other alphabets into ASCII letters
        raise _refused(Message("The repository address is on a host whose name is not written in ASCII."))
    if port not in (None, 443):
        raise _refused(Message("The repository address names a port; only 443 is allowed."))
    return _address(url.hostname or "", [unquote(p) for p in url.path.strip("/").split("/")], allowed_hosts)


def _address(host: str, parts: list[str], allowed_hosts: Collection[str]) -> SubmittedAddress:
    host = host.lower().rstrip(".")
    if host not in allowed_hosts:
        raise _refused(
            Message(
                "The repository address is on the host %(host)s; the allowed hosts are %(hosts)s.",
                host=repr(host),
                hosts=", ".join(sorted(allowed_hosts)),
            )
        )
    if len(parts) < 2:
        raise _refused(Message("The repository address lacks an owner or a name."))
    owner, name, *rest = parts
    repository = Repository(host, _segment(owner, "owner"), _segment(name.removesuffix(".git"), "name"))
    if rest[:1] == ["-"]:  # the form that GitLab uses
        rest = rest[1:]
    match rest:
        case [] | [""]:
            return SubmittedAddress(repository)
        case ["tree", *ref] if ref:
            return SubmittedAddress(repository, ref=check_ref("/".join(ref)))
        case ["blob", ref, *_]:
            return SubmittedAddress(repository, ref=check_ref(ref))
        case ["commit", sha]:
            return SubmittedAddress(repository, commit=check_commit(sha))
    raise _refused(
        Message(
            "The repository address continues with %(rest)s; expected /tree/REF, /blob/REF/… or /commit/SHA.",
            rest=repr("/".join(rest)[:60]),
        )
    )


def _segment(text: str, what: str) -> str:
    if not _SEGMENT.fullmatch(text) or ".." in text:
        raise _refused(
            Message(
                "The repository address has the %(part)s %(text)s; expected letters, digits, '.', '_' or '-'.",
                part=what,
                text=repr(text[:100]),
            )
        )
    return text


def _refused(why: Message) -> InvalidInput:
    return InvalidInput(why, errors=[{"pointer": "/repository", "detail": f"expected {FORMS}"}])
