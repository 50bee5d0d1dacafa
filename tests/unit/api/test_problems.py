import inspect

import pytest
from tests.unit.api.fakes import Client, World

from cairn.api.problems import KINDS, from_error, kind_of
from cairn.kernel import errors
from cairn.kernel.errors import CairnError, RateLimited, TooLarge, Unavailable, ValidationFailed

RAISED = [
    each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, CairnError)
]


@pytest.mark.parametrize("error", RAISED, ids=lambda each: each.__name__)
def test_every_error_has_a_row_of_its_own_and_its_class_name_in_state_machines(
    error: type[CairnError],
) -> None:
    kind = KINDS[error.code]
    assert kind.error is error
    assert kind.asl_error == error.__name__


def test_statuses_are_those_of_the_error_tree() -> None:
    tree = inspect.getdoc(errors) or ""
    for kind in KINDS.values():
        if kind.error and kind.error is not CairnError:
            line = next(row for row in tree.splitlines() if f" {kind.error.__name__} " in row)
            assert str(kind.status) in line


def test_an_error_of_a_subclass_without_a_row_takes_its_parents() -> None:
    class Stricter(ValidationFailed):
        pass

    assert kind_of(Stricter("no")) is KINDS["validation-failed"]


def test_only_waiting_errors_say_when_to_try_again() -> None:
    assert from_error(RateLimited("slow", retry_after=1.2)).headers() == {"retry-after": "2"}
    assert from_error(Unavailable("down", retry_after=0.1)).headers() == {"retry-after": "1"}
    assert from_error(TooLarge("big")).headers() == {}


def test_a_problem_has_a_stable_type_a_reason_and_the_request_id() -> None:
    response = Client(World()).get("/v1/memories/00000000-0000-0000-0000-000000000009")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "urn:cairn:error:not-found",
        "title": "Nothing is there",
        "status": 404,
        "detail": "There is no such memory.",
        "reason": "not-found",
        "instance": response.headers["x-request-id"],
    }


def test_an_unknown_path_and_an_unknown_method_are_problems_too() -> None:
    client = Client(World())
    missing = client.get("/v1/nothing")
    assert (missing.status_code, missing.json()["reason"]) == (404, "route")
    wrong = client.request("PUT", "/v1/search")
    assert (wrong.status_code, wrong.json()["type"]) == (405, "urn:cairn:error:method-not-allowed")
    assert wrong.headers["allow"] == "POST"


def test_a_bug_becomes_a_500_that_tells_nothing_and_a_log_line_that_does() -> None:
    world = World(bug=KeyError("hunter2 in row 7"))
    client = Client(world)
    response = client.post("/v1/memories", {"text": "hunter2", "type": "fact"})
    assert response.status_code == 500
    assert response.json()["type"] == "urn:cairn:error:internal"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "hunter2" not in response.text
    (event, bug), (_, line) = client.logged
    assert (event, bug["error"]) == ("unexpected", "KeyError")
    assert bug["request_id"] == response.json()["instance"] == line["request_id"]
    assert "remember" in str(bug["stack"])
    assert "hunter2" not in str(client.logged)


def test_a_stopped_database_is_a_503_that_says_when_to_come_back() -> None:
    world = World(database_up=False)
    response = Client(world).post("/v1/memories", {"text": "kept", "type": "fact"})
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert world.written == []
    world.database_up = True
    assert Client(world).post("/v1/memories", {"text": "kept", "type": "fact"}).status_code == 201
