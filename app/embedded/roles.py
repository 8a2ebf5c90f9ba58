"""Two roles for one database: the owner of the tables, and the application's, which only works with their rows.

A home is converted when its server answers, whether it was just created or comes from an earlier release, where one
role was both.  The owner's URL file, which is written last, shows that the conversion is done.
"""

from __future__ import annotations

import secrets
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg2

from app.embedded import data as cluster_data
from app.embedded.binaries import EmbeddedUnavailable
from app.embedded.data import DATABASE, OWNER, ROLE, Access
from app.rights import grants

TRIES = 3  # a service of the earlier release may run meanwhile, and a deadlock with it must end here

# The password consists of letters, digits, `-` and `_`, and is sent over the loopback to a server that we started.
_SEPARATE = f"""
SET lock_timeout = '10s';
DO $$ BEGIN CREATE ROLE {OWNER}; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
ALTER ROLE {OWNER} LOGIN CREATEDB PASSWORD '{{password}}';
ALTER ROLE {ROLE} NOCREATEDB;
REASSIGN OWNED BY {ROLE} TO {OWNER};
ALTER DATABASE {DATABASE} OWNER TO {OWNER};
GRANT CONNECT ON DATABASE {DATABASE} TO {ROLE};
SET ROLE {OWNER};
{grants(ROLE)}"""


def separate(data: Path, access: Access) -> Access:
    """Create the owner, give it what the application's role owned, and grant that role its rights.

    The caller holds the home's lock.  Raises: EmbeddedUnavailable.
    """
    made = replace(access, owner_password=secrets.token_urlsafe(24))
    for left in reversed(range(TRIES)):
        try:
            with closing(psycopg2.connect(made.admin_url(DATABASE), require_auth="scram-sha-256")) as connection:
                with connection, connection.cursor() as cursor:
                    cursor.execute(_SEPARATE.format(password=made.owner_password))
                break
        except (psycopg2.errors.LockNotAvailable, psycopg2.errors.DeadlockDetected) as error:
            if not left:
                raise EmbeddedUnavailable(
                    "the tables are in use, so they cannot be given to their new owner: stop the service that runs"
                    " from this home, and try again"
                ) from error
    cluster_data.save(data, made)
    return made
