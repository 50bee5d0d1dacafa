"""The connector `accounts` against a real server: once under a key, and nothing in a dry run."""

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from tests.plugins.postgres import Server
from tests.support.connecting import Customer, Said, call, customer_database, listed

from cairn.bundled.accounts import server as accounts
from cairn.kernel.errors import ValidationFailed


@pytest.fixture
def customer(postgres_cluster: Server) -> Iterator[Customer]:
    with customer_database(postgres_cluster) as made:
        yield made


@pytest.fixture
def connector(customer: Customer):
    return accounts({}, {"dsn": customer.dsn})


def key() -> str:
    return str(uuid4())


def status(customer: Customer, user: str) -> Any:
    return customer.one("SELECT status FROM accounts.users WHERE id = %s", user)


def test_a_user_is_found_by_address_id_and_name(connector) -> None:
    by_email = call(connector, "find_user", email="Marta.Lindqvist@harbourlane.example").value
    by_id = call(connector, "find_user", user_id="u-1001").value
    assert by_email == by_id
    assert by_id["users"][0]["status"] == "locked"
    assert by_id["users"][0]["failed_sign_ins"] == 5
    assert [u["user_id"] for u in call(connector, "find_user", name="OKAFOR").value["users"]] == [
        "u-1008"
    ]


@pytest.mark.parametrize(
    "email", ["nobody@example.test", "' OR '1'='1", "%", "x'; DROP TABLE accounts.users; --"]
)
def test_nobody_is_found_by_what_is_no_address(connector, email: str) -> None:
    assert call(connector, "find_user", email=email).value["users"] == []


def test_sign_ins_are_the_newest_first(connector) -> None:
    found = call(connector, "sign_ins", user_id="u-1001", limit=3).value["sign_ins"]
    assert [item["outcome"] for item in found] == ["locked", "wrong_password", "wrong_password"]
    assert found[0]["address"] == "203.0.113.24"


def test_unlocking_twice_under_one_key_happens_once(connector, customer: Customer) -> None:
    used = key()
    first = call(connector, "unlock_user", user_id="u-1001", idempotency_key=used).value
    assert first["after"]["status"] == status(customer, "u-1001") == "active"
    with customer.connect() as connection:
        connection.execute("UPDATE accounts.users SET status = 'locked' WHERE id = 'u-1001'")
    again = call(connector, "unlock_user", user_id="u-1001", idempotency_key=used).value
    assert again == {**first, "repeated": True}
    assert status(customer, "u-1001") == "locked"
    assert customer.one("SELECT count(*) FROM accounts.action_keys") == 1


def test_twenty_at_once_under_one_key_happen_once(connector, customer: Customer) -> None:
    used, answers = key(), list[Said]()
    threads = [
        threading.Thread(
            target=lambda: answers.append(
                call(connector, "delete_user", user_id="u-1002", idempotency_key=used)
            )
        )
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([answer for answer in answers if not answer.value.get("repeated")]) == 1
    assert len([answer for answer in answers if answer.value.get("repeated")]) == 19
    assert customer.one("SELECT count(*) FROM accounts.users WHERE id = 'u-1002'") == 0


def test_a_key_of_another_action_is_refused(connector, customer: Customer) -> None:
    used = key()
    call(connector, "unlock_user", user_id="u-1001", idempotency_key=used)
    for tool, user in (("unlock_user", "u-1004"), ("delete_user", "u-1001")):
        said = call(connector, tool, user_id=user, idempotency_key=used)
        assert said.code == "conflict"
    assert status(customer, "u-1004") == "locked"
    assert status(customer, "u-1001") == "active"


@pytest.mark.parametrize("tool", ["unlock_user", "lock_user", "reset_password", "delete_user"])
def test_a_dry_run_tells_and_changes_nothing(connector, customer: Customer, tool: str) -> None:
    before = customer.one("SELECT md5(string_agg(u::text, '' ORDER BY id)) FROM accounts.users u")
    said = call(connector, tool, user_id="u-1001", dry_run=True).value
    assert said["dry_run"]
    assert said["before"]["status"] == "locked"
    after = customer.one("SELECT md5(string_agg(u::text, '' ORDER BY id)) FROM accounts.users u")
    assert before == after
    assert customer.one("SELECT count(*) FROM accounts.action_keys") == 0


def test_a_rollback_undoes(connector, customer: Customer) -> None:
    call(connector, "unlock_user", user_id="u-1001", idempotency_key=key())
    call(connector, "lock_user", user_id="u-1001", reason="as before", idempotency_key=key())
    assert status(customer, "u-1001") == "locked"
    assert (
        customer.one("SELECT locked_reason FROM accounts.users WHERE id = 'u-1001'") == "as before"
    )


def test_a_new_password_is_asked_for_and_none_is_told(connector, customer: Customer) -> None:
    said = call(connector, "reset_password", user_id="u-1002", idempotency_key=key()).value
    assert said["after"]["must_reset"] is True
    assert customer.one("SELECT must_reset FROM accounts.users WHERE id = 'u-1002'") is True


def test_a_deleted_user_is_gone_with_the_sign_ins(connector, customer: Customer) -> None:
    said = call(connector, "delete_user", user_id="u-1007", idempotency_key=key()).value
    assert said["after"] is None
    assert customer.one("SELECT count(*) FROM accounts.sign_ins WHERE user_id = 'u-1007'") == 0


def test_what_was_so_already_is_said_to_be(connector) -> None:
    said = call(connector, "unlock_user", user_id="u-1002", idempotency_key=key()).value
    assert said["note"] == "It was so already."


def test_suspended_users_are_left_to_people(connector, customer: Customer) -> None:
    for tool in ("unlock_user", "lock_user"):
        said = call(connector, tool, user_id="u-1006", idempotency_key=key())
        assert said.code == "conflict"
    assert status(customer, "u-1006") == "suspended"
    assert customer.one("SELECT count(*) FROM accounts.action_keys") == 0


def test_a_failed_write_leaves_its_key_unused(connector, customer: Customer) -> None:
    used = key()
    assert (
        call(connector, "unlock_user", user_id="u-9999", idempotency_key=used).code == "not-found"
    )
    assert call(connector, "unlock_user", user_id="u-1001", idempotency_key=used).value["after"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"user_id": "u-1001"},
        {"user_id": "u-1001", "idempotency_key": "short"},
        {"user_id": "u-1001", "idempotency_key": "a b c d e f g h"},
        {"user_id": "u-1001' OR true --", "idempotency_key": "0" * 36},
        {"user_id": "u-1001\x00", "idempotency_key": "0" * 36},
        {"user_id": ["u-1001"], "idempotency_key": "0" * 36},
        {"user_id": "u-1001", "idempotency_key": "0" * 36, "status": "active"},
        {"idempotency_key": "0" * 36},
    ],
)
def test_bad_arguments_change_nothing(
    connector, customer: Customer, arguments: dict[str, Any]
) -> None:
    said = call(connector, "unlock_user", **arguments)
    assert said.code == "validation-failed"
    assert status(customer, "u-1001") == "locked"


def test_find_user_wants_exactly_one(connector) -> None:
    for arguments in ({}, {"email": "a@b.test", "user_id": "u-1"}, {"name": ""}):
        assert call(connector, "find_user", **arguments).code == "validation-failed"


def test_the_role_can_do_no_more_than_the_tools(customer: Customer) -> None:
    import psycopg

    for statement in (
        "UPDATE accounts.users SET email = 'x@y.test'",
        "INSERT INTO accounts.users SELECT * FROM accounts.users",
        "DELETE FROM accounts.sign_ins",
        "DELETE FROM accounts.action_keys",
        "UPDATE accounts.action_keys SET tool = ''",
        "CREATE TABLE accounts.mine ()",
    ):
        with (
            psycopg.connect(customer.dsn) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())


def test_a_database_without_the_tables_is_not_healthy(customer: Customer) -> None:
    assert call(accounts({}, {"dsn": customer.dsn}), "healthcheck").value["ok"]
    other = customer.make_role("connector_without")
    assert call(accounts({}, {"dsn": other}), "healthcheck").is_error


def test_settings_without_a_dsn_are_refused() -> None:
    with pytest.raises(ValidationFailed) as refused:
        accounts({}, {})
    assert [error.location for error in refused.value.errors] == ["dsn"]


def test_tools_declare_what_they_need(connector) -> None:
    said = {tool.name: (tool.meta or {})["cairn/tool"] for tool in listed(connector)}
    assert said["unlock_user"]["requires_approval_above_autonomy"] == "propose"
    assert said["unlock_user"]["rollback"] == "lock_user"
    assert said["reset_password"]["dangerous"]
    assert said["delete_user"]["forbidden_in_autonomy"] == ["investigate", "propose"]
    assert said["find_user"]["scope"] == "read"
