"""Many clients at once fail nowhere, by the benchmark that measures how fast they are."""

from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant


def test_many_clients_at_once_fail_nowhere(workspace: Tenant) -> None:
    options = ("--clients", "1,16", "--requests", "mixed", "--seconds", "2", "--json")
    ran = cairn(workspace, "bench", "load", *options)

    assert ran.status == 0, ran.err
    found = ran.json()["mixed"]
    assert all(not one["failures"] for one in found.values())
    assert found["16"]["per_second"] >= 0.7 * found["1"]["per_second"]  # it was a tenth
