"""Brings a database to the newest schema. Runs as its owner; not used by the functions.

Migrations are numbered plain SQL run by yoyo, a kept library made for exactly that.
"""

import argparse
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql
from yoyo import get_backend, read_migrations  # pyright: ignore[reportUnknownVariableType]

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(owner_url: str, app_password: str | None = None, *, iam: bool = False) -> list[str]:
    """Apply what is missing, in order, and return the names of what was applied.

    `app_password` is set for the functions' role when given; with `iam` the role signs in with
    IAM tokens instead. Safe to run again and from two places at once (yoyo takes a lock).
    """
    backend = get_backend(_yoyo_url(owner_url))
    with backend.lock():
        pending = backend.to_apply(read_migrations(str(MIGRATIONS)))
        names = [migration.id for migration in pending]
        backend.apply_migrations(pending)
    backend.connection.close()
    _let_the_functions_in(owner_url, app_password, iam=iam)
    return names


def _let_the_functions_in(owner_url: str, app_password: str | None, *, iam: bool) -> None:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        if app_password is not None:
            connection.execute(
                sql.SQL("ALTER ROLE cairn_app PASSWORD {}").format(sql.Literal(app_password))
            )
        if iam:
            connection.execute("GRANT rds_iam TO cairn_app")


def _yoyo_url(owner_url: str) -> str:
    return urlunsplit(urlsplit(owner_url)._replace(scheme="postgresql+psycopg"))


def main() -> None:
    """Migrate the database named on the command line."""
    parser = argparse.ArgumentParser(description="Bring a Cairn database to the newest schema.")
    parser.add_argument("owner_url")
    print("\n".join(migrate(parser.parse_args().owner_url)) or "Nothing to do.")  # noqa: T201


if __name__ == "__main__":
    main()
