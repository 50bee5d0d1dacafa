"""The connector `postgres` against a real server: what it reads, and everything it must not do."""

import json
import tracemalloc
from collections.abc import Iterator

import pytest
from tests.plugins.postgres import Database, Server
from tests.support.connecting import Customer, call, customer_database

from cairn.bundled.database import CustomerDatabase
from cairn.bundled.postgres import server as postgres
from cairn.kernel.errors import ValidationFailed

READER = "connector_reader"


@pytest.fixture(scope="module")
def customer(postgres_cluster: Server) -> Iterator[Customer]:
    with customer_database(postgres_cluster) as made:
        yield made


@pytest.fixture(scope="module")
def reader(customer: Customer):
    dsn = customer.make_role(
        READER,
        "CREATE SCHEMA IF NOT EXISTS support",
        "CREATE TABLE IF NOT EXISTS support.webhooks"
        " (id int PRIMARY KEY, url text, failures int, note text)",
        "COMMENT ON COLUMN support.webhooks.failures IS 'in a row'",
        "INSERT INTO support.webhooks SELECT n, 'https://example.test/' || n, n, repeat('é', 300)"
        " FROM generate_series(1, 1000) AS n ON CONFLICT DO NOTHING",
        f"GRANT USAGE ON SCHEMA support TO {READER}",
        f"GRANT SELECT ON support.webhooks TO {READER}",
    )
    return postgres({"schemas": ["support"], "statement_seconds": 1}, {"dsn": dsn})


def test_rows_come_back_as_json_objects(reader) -> None:
    said = call(
        reader, "query", sql="SELECT id, url, now() IS NOT NULL AS sure FROM webhooks LIMIT 1"
    )
    assert said.value["rows"] == [{"id": 1, "url": "https://example.test/1", "sure": True}]
    assert not said.value["truncated"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1;",
        "VALUES (1)",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "TABLE support.webhooks",
        "-- first\nSELECT 1 -- last",
        "(SELECT 1) UNION (SELECT 2)",
        "SELECT ';' AS semicolon, '100%' AS percent, '{}' AS braces",
    ],
)
def test_every_kind_of_query_runs(reader, sql: str) -> None:
    assert call(reader, "query", sql=sql, max_rows=3).value["rows"]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM support.webhooks",
        "INSERT INTO support.webhooks VALUES (5000)",
        "UPDATE support.webhooks SET failures = 0",
        "DROP TABLE support.webhooks",
        "COPY support.webhooks TO STDOUT",
        "SET ROLE postgres",
        "BEGIN",
        "COMMIT",
        "DO $$ BEGIN END $$",
        "CALL nothing()",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECT 1; DROP TABLE support.webhooks",
        "SELECT 1; COMMIT; DROP TABLE support.webhooks",
        "SELECT 1) AS a; DROP TABLE support.webhooks; SELECT * FROM (SELECT 1",
        "SELECT 1) AS a; COMMIT; --",
        "WITH gone AS (DELETE FROM support.webhooks RETURNING *) SELECT * FROM gone",
        "SELECT * INTO support.copied FROM support.webhooks",
        "SELECT * FROM support.webhooks FOR UPDATE",
        "SELECT setval('accounts.sign_ins_id_seq', 1)",
        "SELECT lo_create(0)",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT 1 /* never closed",
        "SELECT 'never closed",
        "SELECT $a$ never closed",
    ],
)
def test_what_writes_or_is_no_single_query_is_refused(reader, customer: Customer, sql: str) -> None:
    said = call(reader, "query", sql=sql)
    assert said.is_error
    assert said.code == "validation-failed"
    assert customer.one("SELECT count(*) FROM support.webhooks") == 1000


def test_a_transaction_cannot_be_made_to_write(reader, customer: Customer) -> None:
    sql = "SELECT set_config('transaction_read_only', 'off', false)"
    assert call(reader, "query", sql=sql).is_error
    sql = "SELECT set_config('default_transaction_read_only', 'off', false)"
    call(reader, "query", sql=sql)
    assert call(reader, "query", sql="SELECT count(*) AS n FROM webhooks").value["rows"] == [
        {"n": 1000}
    ]


def test_what_is_not_granted_is_not_read(reader) -> None:
    for table in ("accounts.users", "pg_authid", "pg_catalog.pg_shadow"):
        said = call(reader, "query", sql=f"TABLE {table}")
        assert said.is_error
        assert "permission denied" in said.text


def test_a_role_that_may_read_more_than_was_granted_is_refused(customer: Customer) -> None:
    narrow = postgres({"schemas": ["public"]}, {"dsn": customer.dsn})
    said = call(narrow, "query", sql="SELECT 1")
    assert said.is_error
    assert "accounts." in said.text
    assert call(narrow, "healthcheck").is_error


def test_a_role_that_can_become_another_is_held_to_what_that_one_may_read(
    customer: Customer,
) -> None:
    customer.make_role("connector_owner", "GRANT USAGE ON SCHEMA accounts TO connector_owner",
                       "GRANT SELECT ON accounts.users TO connector_owner")  # fmt: skip
    dsn = customer.make_role(
        "connector_turncoat",
        "ALTER ROLE connector_turncoat NOINHERIT",
        "GRANT connector_owner TO connector_turncoat",
    )
    sql = (
        "SELECT set_config('role', 'connector_owner', true) AS role,"
        " query_to_xml('SELECT email FROM accounts.users', true, true, '') AS read"
    )
    said = call(postgres({"schemas": ["support"]}, {"dsn": dsn}), "query", sql=sql)
    assert said.is_error
    assert "accounts.users" in said.text and "@" not in said.text


def test_a_slow_query_is_stopped(reader) -> None:
    said = call(reader, "query", sql="SELECT pg_sleep(30)")
    assert said.is_error
    assert "took too long" in said.text
    sql = "SELECT set_config('statement_timeout', '0', false), pg_sleep(30)"
    assert call(reader, "query", sql=sql).is_error


def test_rows_are_capped_and_the_answer_says_so(reader) -> None:
    said = call(reader, "query", sql="SELECT id FROM webhooks ORDER BY id", max_rows=7)
    assert [row["id"] for row in said.value["rows"]] == [1, 2, 3, 4, 5, 6, 7]
    assert said.value["truncated"]
    assert "truncated" in said.value["note"]


def test_the_settings_cap_what_a_caller_may_ask(customer: Customer, reader) -> None:
    few = postgres({"schemas": ["support"], "max_rows": 2}, {"dsn": customer.dsn_of(READER)})
    assert len(call(few, "query", sql="TABLE support.webhooks", max_rows=5000).value["rows"]) == 2


def test_bytes_are_capped_and_the_answer_says_so(reader) -> None:
    said = call(reader, "query", sql="TABLE support.webhooks", max_rows=5000)
    assert len(said.text.encode()) <= 100_000
    assert said.value["truncated"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 50000000) AS huge",
        "SELECT 1) AS a, LATERAL (SELECT repeat('x', 50000000) AS huge",
        "SELECT 1) AS a UNION ALL SELECT repeat('x', 50000000) FROM (SELECT 1",
    ],
)
def test_one_huge_value_is_cut_by_the_server_or_refused(reader, sql: str) -> None:
    said = call(reader, "query", sql=sql)
    assert len(said.text.encode()) <= 100_000
    assert said.is_error or "xxx" in said.text


def test_a_row_that_was_cut_is_said_to_be(reader) -> None:
    said = call(reader, "query", sql="SELECT repeat('x', 200000) AS huge")
    assert said.value["truncated"]
    assert "the beginning of the first row" in said.value["note"]
    assert len(said.value["rows"]) == 1
    half = call(reader, "query", sql="SELECT repeat('ada@example.com ', 9000) AS addresses")
    assert half.value["rows"][0].endswith("ada@example.com ")


def test_the_server_sends_no_more_than_is_shown(customer: Customer, reader) -> None:
    many = postgres(
        {"schemas": ["support"], "max_rows": 5000, "statement_seconds": 20},
        {"dsn": customer.dsn_of(READER)},
    )
    sql = "SELECT n, repeat('é', 30000) AS text FROM generate_series(1, 4000) AS n"
    tracemalloc.start()
    said = call(many, "query", sql=sql, max_rows=5000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [row["n"] for row in said.value["rows"]] == [1]
    assert said.value["truncated"]
    assert peak < 20_000_000


def test_control_characters_and_escapes_do_not_come_through(reader) -> None:
    sql = r"SELECT E'\x1b[31mred\x07' AS text, U&'\202Egnp' AS turned"
    said = call(reader, "query", sql=sql)
    assert not set(said.text) & {"\x1b", "\x07", "\u202e"}
    assert said.value["rows"] == [{"text": "red", "turned": "gnp"}]


def test_secrets_in_a_query_are_not_echoed(reader) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2" * 3
    for sql in (f"SELECT '{secret}' AS token", f"SELECT {secret}", f"SELECT '{secret}'::int"):
        assert secret not in call(reader, "query", sql=sql).text


def test_the_password_of_the_connection_is_never_in_an_answer(
    reader, postgres_cluster: Server
) -> None:
    password = postgres_cluster.app_password
    assert password not in call(reader, "query", sql=f"SELECT '{password}' AS guess").text


def test_tables_and_columns_are_those_that_may_be_read(reader) -> None:
    said = call(reader, "list_tables")
    assert said.value["tables"] == [{"table": "support.webhooks", "kind": "table"}]
    assert call(reader, "list_tables", name_like="%").value["tables"] == []
    columns = call(reader, "describe_table", table="webhooks").value["columns"]
    assert columns[2] == {
        "column": "failures",
        "type": "integer",
        "required": False,
        "comment": "in a row",
    }
    for table in ("accounts.users", "nothing", "a.b.c", "x'; DROP TABLE support.webhooks; --"):
        assert call(reader, "describe_table", table=table).code == "not-found"


def test_bad_arguments_are_named_and_not_repeated(reader) -> None:
    for arguments in (
        {},
        {"sql": ""},
        {"sql": "SELECT 1\x00"},
        {"sql": 5},
        {"sql": "SELECT 1", "max_rows": 0},
        {"sql": "SELECT 1", "max_rows": 10_000_000},
        {"sql": "SELECT 1", "hunter2": "hunter2"},
        {"sql": "x" * 40_000},
    ):
        said = call(reader, "query", **arguments)
        assert said.code == "validation-failed", arguments
        assert "hunter2" not in said.text


def test_a_database_or_a_role_of_cairns_is_refused(database: Database, customer: Customer) -> None:
    for dsn in (database.app_url, database.owner_url):
        with pytest.raises(ValidationFailed):
            postgres({}, {"dsn": dsn})
    stranger = customer.make_role("connector_stranger")
    there = stranger.replace(customer.name, database.name)
    said = call(postgres({}, {"dsn": there}), "query", sql="SELECT 1")
    assert "Cairn's own" in said.text
    member = customer.make_role("connector_member", "GRANT cairn_app TO connector_member")
    assert "Cairn's own" in call(postgres({}, {"dsn": member}), "query", sql="SELECT 1").text


def test_a_superuser_is_refused(customer: Customer) -> None:
    mighty = customer.make_role("connector_mighty", "ALTER ROLE connector_mighty SUPERUSER")
    said = call(postgres({}, {"dsn": mighty}), "query", sql="SELECT 1")
    assert "too mighty" in said.text
    reads_files = customer.make_role(
        "connector_files", "GRANT pg_read_server_files TO connector_files"
    )
    assert "too mighty" in call(postgres({}, {"dsn": reads_files}), "query", sql="SELECT 1").text
    for greater in ("connector_mighty", "pg_signal_backend"):
        heir = customer.make_role("connector_heir", "ALTER ROLE connector_heir NOINHERIT",
                                  f"GRANT {greater} TO connector_heir")  # fmt: skip
        assert "too mighty" in call(postgres({}, {"dsn": heir}), "query", sql="SELECT 1").text
        customer.make_role("connector_heir", f"REVOKE {greater} FROM connector_heir")


def test_a_wrong_password_asks_for_a_new_sign_in(customer: Customer) -> None:
    wrong = customer.dsn.replace(customer.server.app_password, "wrong-password")
    said = call(postgres({"schemas": ["accounts"]}, {"dsn": wrong}), "query", sql="SELECT 1")
    assert said.code == "unauthorized"
    assert "wrong-password" not in said.text


def test_a_server_that_vanishes_is_noticed(customer: Customer) -> None:
    with CustomerDatabase(dsn=customer.dsn).reading() as connection:
        asked = connection.info.get_parameters()
    assert (asked["keepalives_idle"], asked["keepalives_count"]) == ("10", "3")


def test_a_server_that_is_not_there_is_said_to_be(customer: Customer) -> None:
    nowhere = f"postgresql://somebody:word@/{customer.name}?host=/nowhere/at/all"
    assert call(postgres({}, {"dsn": nowhere}), "healthcheck").code == "unavailable"


@pytest.mark.parametrize(
    ("config", "secrets", "where"),
    [
        ({}, {}, "dsn"),
        ({}, {"dsn": "not a dsn at all"}, "dsn"),
        ({}, {"dsn": "postgresql://localhost/shop"}, "dsn"),
        ({}, {"dsn": "postgresql://cairn_app@localhost/shop"}, "dsn"),
        ({}, {"dsn": "postgresql://a@b/c?options=-crole%3Dpostgres"}, "dsn"),
        ({}, {"dsn": "postgresql://a@b/c?passfile=/etc/passwd"}, "dsn"),
        ({}, {"dsn": "postgresql://a@b/c?sslkeylogfile=/tmp/keys"}, "dsn"),
        ({}, {"dsn": "postgresql://a@b/c?sslrootcert=/etc/hosts"}, "dsn"),
        ({}, {"dsn": "postgresql://a@b/c?service=other"}, "dsn"),
        ({"schemas": []}, {"dsn": "postgresql://a@b/c"}, "schemas"),
        ({"schemas": ["pg_catalog"]}, {"dsn": "postgresql://a@b/c"}, "schemas"),
        ({"schemas": ["a; DROP"]}, {"dsn": "postgresql://a@b/c"}, "schemas"),
        ({"max_rows": 10**9}, {"dsn": "postgresql://a@b/c"}, "max_rows"),
        ({"password": "hunter2"}, {"dsn": "postgresql://a@b/c"}, "password"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(
    config: dict[str, object], secrets: dict[str, str], where: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        postgres(config, secrets)  # pyright: ignore[reportArgumentType]
    assert any(where in error.location for error in refused.value.errors)
    assert "hunter2" not in json.dumps([str(refused.value), str(refused.value.errors)])
