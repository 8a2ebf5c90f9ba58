"""A broker URL and its parts: read as libpq reads it, written so that both read it again, and without SQLAlchemy."""

import subprocess
import sys
from string import printable
from urllib.parse import quote

import pytest
from celery_durable.broker_url import BrokerUrl, parse
from celery_durable.database import connect_arguments
from hypothesis import given
from hypothesis import strategies as st
from psycopg2.extensions import parse_dsn

WORDS = st.text(printable, min_size=1, max_size=12)
PORTS = st.integers(1, 65535).map(str)
HOSTS = st.one_of(
    st.from_regex(r"[a-z0-9][a-z0-9.-]{0,8}", fullmatch=True), st.sampled_from(["::1", "fe80::1:2", "10.0.0.1"])
)


@st.composite
def urls(draw: st.DrawFn) -> BrokerUrl:
    hosts = draw(st.one_of(st.lists(HOSTS, max_size=3), st.just(["/run/postgresql"])))
    ports = draw(st.one_of(st.just([]), st.lists(PORTS, min_size=len(hosts), max_size=len(hosts))))
    words = {
        "user": draw(st.one_of(st.none(), WORDS)),
        "password": draw(st.one_of(st.none(), WORDS)),
        "dbname": draw(st.one_of(st.none(), WORDS)),
        "host": ",".join(hosts),
        "port": ",".join(ports),
        "options": draw(st.one_of(st.none(), WORDS)),
        "connect_timeout": draw(st.one_of(st.none(), PORTS)),
    }
    return BrokerUrl("postgresql", {name: one for name, one in words.items() if one})


@pytest.mark.proof
@given(urls())
def test_what_is_written_is_read_again_here_and_by_libpq(url: BrokerUrl) -> None:
    assert parse(url.render()) == url
    by_libpq = parse_dsn(url.render())
    if not by_libpq.get("port", "1").strip(","):  # of several hosts without ports
        del by_libpq["port"]
    assert by_libpq == url.words


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("durable://me@h/shop", {"user": "me", "host": "h", "dbname": "shop"}),
        ("durable://", {}),
        ("durable:///shop", {"dbname": "shop"}),
        ("durable://h:7", {"host": "h", "port": "7"}),
        ("durable://h?port=7", {"host": "h", "port": "7"}),
        ("durable://a:1,b/shop", {"host": "a,b", "port": "1,5432", "dbname": "shop"}),
        ("durable://a,b", {"host": "a,b"}),
        ("durable://[::1]:7,[::2]/", {"host": "::1,::2", "port": "7,5432"}),
        ("durable:///?host=a&host=b:2", {"host": "a,b", "port": "5432,2"}),
        ("durable:///?host=a&host=b&port=1&port=2", {"host": "a,b", "port": "1,2"}),
        ("durable:///?host=a,b&port=1,2", {"host": "a,b", "port": "1,2"}),
        ("durable:///?host=/run/pg&port=7", {"host": "/run/pg", "port": "7"}),
        ("durable:///?host=::1", {"host": "::1"}),
        ("durable://h/shop?host=other", {"host": "other", "dbname": "shop"}),
        ("durable://me:a%40b%2Fc@h", {"user": "me", "password": "a@b/c", "host": "h"}),
        ("durable://me:a/b@h", {"user": "me", "password": "a/b", "host": "h"}),
        ("durable://h?user=me&password=hush&sslmode=", {"host": "h", "user": "me", "password": "hush"}),
    ],
)
def test_each_form_of_hosts_and_logins_is_read(url: str, words: dict[str, str]) -> None:
    assert parse(url) == BrokerUrl("durable", words)
    assert parse(parse(url).render()) == parse(url)


@pytest.mark.parametrize(
    "url",
    [
        "hush",
        "durable:/hush",
        "durable://me:hush@hush@h/shop",
        "durable://me:hush@a b/shop",
        "durable://me:hush@h:port/shop",
        "durable://me:hush@h:7/shop?port=8",
        "durable://me:hush@h/shop?port=x",
        "durable://me:hush@h/shop?connect_timeout=2&connect_timeout=3",
        "durable://me:hush@a:1,[b/shop",
    ],
)
def test_what_is_no_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"expected|given twice") as caught:
        parse(url)
    assert "hush" not in str(caught.value)


def test_another_driver_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs postgresql\+psycopg2, not mysql"):
        connect_arguments("mysql://me@h/shop")


def test_each_word_is_replaced_or_taken_away() -> None:
    url = parse(f"durable://me:{quote('a b')}@h/shop?sslmode=require")
    assert url.replaced(password=None, sslmode="disable").render() == "durable://me@h/shop?sslmode=disable"
    assert url.render() == "durable://me:a%20b@h/shop?sslmode=require"


@pytest.mark.proof
def test_no_module_of_the_package_needs_sqlalchemy() -> None:
    program = """
import sys
sys.modules["sqlalchemy"] = None
import pkgutil, importlib, celery_durable
for found in pkgutil.walk_packages(celery_durable.__path__, "celery_durable."):
    if ".django" not in found.name:
        importlib.import_module(found.name)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
