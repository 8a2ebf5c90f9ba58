"""The languages of the pages: which one a request is answered in, and what templates translate with.

The API speaks English only.  Its codes and numbers are put into words on the pages, through the functions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiflask import APIFlask
from babel import Locale, UnknownLocaleError
from babel.support import NullTranslations
from flask import g, has_app_context, request
from flask_babel import Babel, get_locale, get_translations
from flask_babel.speaklater import LazyString
from jinja2 import pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.web.core.context import is_api
from app.web.core.visible_text import visible

#: By their tags, in their own words, as the footer offers them; the first is spoken where no other is asked for.
LANGUAGES = {"en": "English", "ko": "한국어"}
DEFAULT = "en"
COOKIE = "language"
KEPT_SECONDS = 365 * 86_400


def init(app: APIFlask) -> None:
    """Choose a language for each request, and give templates `_`, `ngettext` and `trans`."""
    app.config |= {"BABEL_DEFAULT_LOCALE": DEFAULT, "BABEL_TRANSLATION_DIRECTORIES": "translations"}
    Babel(app, locale_selector=chosen)
    env = app.jinja_env
    env.policies["ext.i18n.trimmed"] = True
    env.globals |= {"_": _gettext, "gettext": _gettext, "ngettext": _ngettext, "LANGUAGES": LANGUAGES, "spoken": spoken}
    app.after_request(_add_vary)


def chosen() -> str:
    """The tag of a language: of the cookie, else the best that the browser accepts, else English."""
    if is_api():
        return DEFAULT
    wanted = request.cookies.get(COOKIE)
    if wanted in LANGUAGES:
        return str(wanted)
    # Werkzeug's best_match prefers any exact tag: of `ko-KR, en;q=0.8` it takes English
    accepted = (tag.lower().partition("-")[0] for tag, quality in request.accept_languages if quality > 0)
    return next((tag for tag in accepted if tag in LANGUAGES), DEFAULT)


def spoken() -> str:
    """The tag of the language of this answer."""
    return str(get_locale() or DEFAULT)


def language_name(tag: str, fallback: str = "") -> str:
    """The name of a language in the language of this answer.  fallback: for a tag that nobody knows."""
    try:
        return Locale.parse(tag, sep="-").get_display_name(spoken()) or fallback or tag
    except (UnknownLocaleError, ValueError):
        return fallback or tag


def remember(response: Response, language: str) -> None:
    """Store the choice in this browser for a year.  It is no secret, and only pages read it."""
    response.set_cookie(COOKIE, language, max_age=KEPT_SECONDS, secure=request.is_secure, httponly=True, samesite="Lax")


def gettext(message: str, /, **facts: object) -> str:
    """A sentence in the language of this answer, with its places filled if there are facts."""
    sentence = str(_catalogue().ugettext(message))
    return sentence % facts if facts else sentence


def lazy_gettext(message: str) -> LazyString:
    """Mark a constant for translation: it is translated when it is shown."""
    return LazyString(gettext, message)


def ngettext(one: str, many: str, number: int) -> str:
    """The sentence for a number, with all its places; Flask-Babel's own would fill them at once."""
    return str(_catalogue().ungettext(one, many, number))


def _catalogue() -> NullTranslations:
    """The catalogue of this request, looked up once.

    A page has a hundred messages, and Flask-Babel's look-up costs more than one.
    """
    if not has_app_context():
        return NullTranslations()
    found: NullTranslations | None = g.get("catalogue")
    if found is None:
        found = g.catalogue = get_translations()
    return found


@pass_eval_context
def _gettext(context: EvalContext, message: str, /, **facts: object) -> str:
    return _filled(context, gettext(message), facts)


@pass_eval_context
def _ngettext(context: EvalContext, one: str, many: str, num: int, /, **facts: object) -> str:
    facts.setdefault("num", num)
    return _filled(context, ngettext(one, many, num), facts)


def _filled(context: EvalContext, sentence: str, facts: Mapping[str, object]) -> str:
    """Put facts into a sentence: strangers' text visible and escaped, whole numbers as 1,234."""
    if not context.autoescape:
        return sentence % {name: _shown(value) for name, value in facts.items()}
    return Markup(sentence) % {name: _shown(value) for name, value in facts.items()}  # noqa: S704 - our own messages


def _shown(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return visible(value, keep="\n\t\r") if isinstance(value, str) and not isinstance(value, Markup) else value


def _add_vary(response: Any) -> Any:
    if response.mimetype == "text/html":
        response.vary.update(("Accept-Language", "Cookie"))
    return response
