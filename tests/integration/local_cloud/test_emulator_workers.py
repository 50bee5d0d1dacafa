"""How many workers of a function the emulator starts when calls come at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from infra.local.emulator_main import PATIENCE, is_dead

if TYPE_CHECKING:
    from tests.plugins.cloud import EmptyCloud

STARTS_SLOWLY = """
import os, time
time.sleep(0.5)

def handler(event, context):
    return os.getpid()
"""
MEETS = """
import os, time
from pathlib import Path

def handler(event, context):
    here = Path(os.environ["HERE"])
    (here / str(os.getpid())).touch()
    while len(list(here.iterdir())) < 2:
        time.sleep(0.05)
    return os.getpid()
"""


def called(cloud: "EmptyCloud", name: str, times: int) -> list[int]:
    """The pids that answer calls made at once."""

    def call(_: int) -> int:
        answer = cloud.client("lambda").invoke(FunctionName=name, Payload=b"{}")
        return json.loads(answer["Payload"].read())

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(call, range(times)))


def test_calls_that_come_at_once_wait_for_the_worker_that_starts(cloud: "EmptyCloud") -> None:
    cloud.create_function("slow-start", STARTS_SLOWLY)
    assert len(set(called(cloud, "slow-start", 6))) <= 2


def test_a_call_that_waits_for_another_gets_it(cloud: "EmptyCloud", tmp_path: Path) -> None:
    cloud.create_function("meets", MEETS, env={"HERE": str(tmp_path)}, timeout=round(4 * PATIENCE))
    assert len(set(called(cloud, "meets", 2))) == 2


@pytest.mark.parametrize(
    ("answer", "dead"),
    [
        ({"error": "Worker process died"}, True),
        ({"error": "[Errno 32] Broken pipe"}, True),
        ({"error": "[Errno 32] Broken pipe", "error_type": "BrokenPipeError"}, False),
        ({"error": "Task timed out after 3.00 seconds"}, False),
        ({"status": "ok"}, False),
    ],
)
def test_a_worker_that_goes_away_before_or_in_its_call_is_told_from_a_handler_that_fails(
    answer: dict[str, str], dead: bool
) -> None:
    assert is_dead(answer) is dead
