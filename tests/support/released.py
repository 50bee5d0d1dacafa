"""What the last release left behind: its statements, its migrations, and a small database of them.

While a deployment goes on, and after one that was rolled back, the functions of the release before
run on the new schema; and their database is what the new migrations find. At a release,
`python -m tests.support.released` keeps the present statements, migrations and rows.
"""

from __future__ import annotations

import gzip
import json
import re
import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from cairn.adapters.postgres.migrate import MIGRATIONS, migrate
from cairn.adapters.postgres.sql import QUERIES, named_queries

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from tests.plugins.postgres import Database, Server

FOLDER = Path(__file__).parent.parent / "released"
LAST_MIGRATION = "0034.ticket-messages"
"""The newest migration of that release: what comes after it may be changed until the next one."""

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
TABLES = """
SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND c.relname NOT IN ('_yoyo_migration', 'embedding_model')
   AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 GROUP BY c.relname ORDER BY c.relname
"""


def kept(name: str) -> dict[str, str]:
    """Return one of the kept files: texts by their names."""
    return json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))


def keep(name: str, texts: dict[str, str]) -> None:
    """Write one of the kept files."""
    body = json.dumps(texts, indent=0, sort_keys=True).encode()
    (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(body, mtime=0))


def released() -> dict[str, str]:
    """Return every statement of the last release by name, with numbered parameters."""
    return {name: numbered(text) for name, text in kept("queries").items()}


def numbered(text: str) -> str:
    """Return a statement as PREPARE takes it: $1, $2 ... for the named parameters."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    return PLACEHOLDER.sub(number, text).replace("%%", "%")


def migrations_to(last: str, folder: Path) -> Path:
    """Write the kept migrations into a folder, the last one `last`."""
    for name, text in kept("migrations").items():
        if name <= last or not name[0].isdigit():
            (folder / f"{name}.sql").write_text(text, encoding="utf-8")
    return folder


def rows_of(connection: psycopg.Connection[Any], like: Iterable[str] = ()) -> dict[str, str]:
    """Return all rows as COPY writes them, by `table (columns)`; of the tables in `like` these."""
    texts: dict[str, str] = {}
    before: dict[str, list[str]] = dict(map(_parted, like))
    for table, present in connection.execute(TABLES.encode()).fetchall():
        columns = before.get(table) or present
        order = sql.SQL(", ").join(map(sql.Identifier, columns))
        query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT")
        with connection.cursor().copy(query.format(order, sql.Identifier(table))) as copy:
            lines = b"".join(map(bytes, copy)).split(b"\n")
        if text := b"".join(line + b"\n" for line in sorted(lines) if line).decode():
            texts[f"{table} ({', '.join(columns)})"] = text
    return texts


def _parted(key: str) -> tuple[str, list[str]]:
    table, _, columns = key.partition(" (")
    return table, columns.removesuffix(")").split(", ")


def restore(database: Database) -> None:
    """Put the kept rows into the tables that a database has."""
    with database.connect_as_superuser() as root:
        root.execute("SET session_replication_role = replica")  # as they are: no trigger
        tables = {name for name, _ in root.execute(TABLES.encode())}
        for table, text in kept("rows").items():
            if table.split()[0] not in tables:
                continue
            with root.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
                copy.write(text)


@contextmanager
def server(folder: Path) -> Generator[Server]:
    """Start a cluster of its own."""
    from infra.local.layout import PROJECT, Layout
    from infra.local.postgres import Cluster
    from infra.local.processes import Daemon
    from tests.plugins.postgres import Server

    layout = Layout(project=PROJECT, base=folder)
    layout.make()
    cluster = Cluster(
        data=layout.postgres,
        socket_folder=layout.socket_folder,
        superuser_password=secrets.token_hex(16),
        daemon=Daemon(name="postgres", pid_file=folder / "pid", log_file=folder / "log"),
    )
    cluster.start()
    try:
        yield Server(cluster=cluster, owner_password="owner", app_password="app")
    finally:
        cluster.stop()


def keep_rows(migrations: Path = MIGRATIONS) -> None:
    """Write what a workspace with one of everything has in its tables."""
    from tests.plugins.postgres import Database
    from tests.support.everything import open_everything

    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as running:
        running.cluster.prepare(owner_password=running.owner_password)
        urls = {"owner_url": running.owner_url("cairn"), "app_url": running.app_url("cairn")}
        migrate(urls["owner_url"], running.app_password, folder=migrations)
        database = Database(name="cairn", server=running, **urls)
        everything = open_everything(database)
        everything.fill()
        everything.pool.close()
        with database.connect_as_superuser() as root:
            keep("rows", rows_of(root))


if __name__ == "__main__":
    queries = {
        f"{path.stem}.{name}": text.decode()
        for path in sorted(QUERIES.glob("*.sql"))
        for name, text in named_queries(path.stem).items()
    }
    keep("queries", queries)
    keep("migrations", {path.stem: path.read_text() for path in MIGRATIONS.glob("*.sql")})
    keep_rows()
