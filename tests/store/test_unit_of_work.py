"""The transaction itself."""

from tests.conftest import World


def test_a_server_that_vanished_without_a_word_is_given_up_within_seconds(world: World) -> None:
    with world.uow.engine.connect() as connection:
        given = connection.connection.dbapi_connection.info.dsn_parameters
    assert int(given["tcp_user_timeout"]) <= 20_000
    assert int(given["keepalives_idle"]) + int(given["keepalives_interval"]) * int(given["keepalives_count"]) <= 30
