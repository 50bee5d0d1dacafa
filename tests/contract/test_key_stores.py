"""One contract for every key store: in memory, in a file, and in DynamoDB with KMS (emulated)."""

import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import boto3
import pytest
from botocore.config import Config
from tests.fakes.keys import InMemoryKeyStore
from tests.plugins.cloud import EmptyCloud

from cairn.adapters.aws.keys import DynamoKeyStore
from cairn.adapters.files.keys import FileKeyStore
from cairn.kernel.clock import Stopwatch
from cairn.kernel.errors import Unavailable
from cairn.ledger.keys import KeyStore, SubjectForgotten

pytestmark = pytest.mark.xdist_group("emulator")

WORKSPACE, OTHER_WORKSPACE = uuid4(), uuid4()
TABLE = "key-store-contract"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def store_of(
    dynamodb: Any, kms: Any, arn: str, stopwatch: Stopwatch = time.monotonic
) -> DynamoKeyStore:
    return DynamoKeyStore(dynamodb, kms, table=TABLE, kms_key_arn=arn, stopwatch=stopwatch)


@pytest.fixture(scope="module")
def aws(cloud: EmptyCloud) -> Iterator[Callable[[], DynamoKeyStore]]:
    """Opens stores on one emulated table."""
    kms, dynamodb = cloud.client("kms"), cloud.client("dynamodb")
    arn = kms.create_key()["KeyMetadata"]["Arn"]
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "workspace_id", "AttributeType": "S"},
            {"AttributeName": "subject_id", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "workspace_id", "KeyType": "HASH"},
            {"AttributeName": "subject_id", "KeyType": "RANGE"},
        ],
    )
    yield lambda: store_of(dynamodb, kms, arn)
    kms.close()
    dynamodb.close()


@pytest.fixture(params=["memory", "file", "aws"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], KeyStore]:
    """Opens the same store again and again."""
    if request.param == "aws":
        return request.getfixturevalue("aws")
    if request.param == "file":
        return lambda: FileKeyStore(tmp_path / "keys" / "keys.sqlite")
    memory = InMemoryKeyStore()
    return lambda: memory


def test_a_key_is_made_once_and_found_again(reopen: Callable[[], KeyStore]) -> None:
    first, second = uuid4(), uuid4()
    made = reopen().get_or_create(WORKSPACE, [first, second, first])
    assert made.keys() == {first, second}
    assert {len(key) for key in made.values()} == {32}
    assert made[first] != made[second]
    assert reopen().get(WORKSPACE, {first, second}) == made
    assert reopen().get_or_create(WORKSPACE, [second]) == {second: made[second]}


def test_no_subjects_need_no_keys(reopen: Callable[[], KeyStore]) -> None:
    assert reopen().get_or_create(WORKSPACE, []) == {}
    assert reopen().get(WORKSPACE, []) == {}


def test_unknown_subjects_are_left_out(reopen: Callable[[], KeyStore]) -> None:
    known = uuid4()
    made = reopen().get_or_create(WORKSPACE, [known])
    assert reopen().get(WORKSPACE, [known, uuid4()]) == made


def test_workspaces_do_not_share_keys(reopen: Callable[[], KeyStore]) -> None:
    subject = uuid4()
    made = reopen().get_or_create(WORKSPACE, [subject])
    assert reopen().get(OTHER_WORKSPACE, [subject]) == {}
    assert reopen().get_or_create(OTHER_WORKSPACE, [subject]) != made
    assert reopen().destroy(OTHER_WORKSPACE, subject)
    assert reopen().get(WORKSPACE, [subject]) == made


def test_a_destroyed_key_is_gone_and_never_made_anew(reopen: Callable[[], KeyStore]) -> None:
    subject, other = uuid4(), uuid4()
    made = reopen().get_or_create(WORKSPACE, [subject, other])
    assert reopen().destroy(WORKSPACE, subject) is True
    assert reopen().destroy(WORKSPACE, subject) is False
    assert reopen().get(WORKSPACE, [subject, other]) == {other: made[other]}
    with pytest.raises(SubjectForgotten) as caught:
        reopen().get_or_create(WORKSPACE, [other, subject])
    assert caught.value.fields == {"subject_id": str(subject)}


def test_a_subject_can_be_barred_before_it_has_a_key(reopen: Callable[[], KeyStore]) -> None:
    subject = uuid4()
    assert reopen().destroy(WORKSPACE, subject) is False
    with pytest.raises(SubjectForgotten):
        reopen().get_or_create(WORKSPACE, [subject])


def test_more_subjects_than_one_request_holds(reopen: Callable[[], KeyStore]) -> None:
    subjects = [uuid4() for _ in range(130)]
    made = reopen().get_or_create(WORKSPACE, subjects)
    assert len(set(made.values())) == 130
    assert reopen().get(WORKSPACE, subjects) == made


def test_writers_at_once_get_the_same_keys(reopen: Callable[[], KeyStore]) -> None:
    subjects = [uuid4() for _ in range(3)]
    with ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(lambda _: dict(reopen().get_or_create(WORKSPACE, subjects)), range(16))
        )
    assert all(keys == made[0] for keys in made)
    assert reopen().get(WORKSPACE, subjects) == made[0]


def test_an_aws_store_that_cannot_be_reached_is_unavailable() -> None:
    quick = Config(connect_timeout=0.2, retries={"max_attempts": 0})
    nowhere = f"http://127.0.0.1:{free_port()}"
    session = boto3.Session("none", "none", region_name="eu-west-1")
    dynamodb = session.client("dynamodb", endpoint_url=nowhere, config=quick)
    kms = session.client("kms", endpoint_url=nowhere, config=quick)
    store = store_of(dynamodb, kms, "arn")
    for call in (store.get, store.get_or_create):
        with pytest.raises(Unavailable):
            call(WORKSPACE, [uuid4()])
    with pytest.raises(Unavailable):
        store.destroy(WORKSPACE, uuid4())


def test_a_wrapped_key_moved_to_another_subject_does_not_open(
    aws: Callable[[], DynamoKeyStore],
) -> None:
    store, subject, thief = aws(), uuid4(), uuid4()
    store.get_or_create(WORKSPACE, [subject])
    table = store._dynamodb  # the attacker's own access to the table
    key = {"workspace_id": {"S": str(WORKSPACE)}, "subject_id": {"S": str(subject)}}
    item = table.get_item(TableName=TABLE, Key=key)["Item"]
    table.put_item(TableName=TABLE, Item={**item, "subject_id": {"S": str(thief)}})
    with pytest.raises(Unavailable):
        store.get(WORKSPACE, [thief])


class Counted:
    """KMS, and how often it was asked for what."""

    def __init__(self, kms: Any) -> None:
        self.asked: list[str] = []
        self._kms = kms

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._kms, name)


def test_one_request_to_kms_a_minute_opens_the_keys_of_all_subjects_of_a_workspace(
    aws: Callable[[], DynamoKeyStore],
) -> None:
    made, workspace, now = aws(), uuid4(), [0.0]
    kms = Counted(made._kms)
    store = store_of(made._dynamodb, kms, made._kms_key_arn, lambda: now[0])
    subjects = [uuid4() for _ in range(5)]
    keys = store.get_or_create(workspace, subjects)
    assert kms.asked == ["generate_data_key", "decrypt"]
    assert store.get(workspace, subjects) == keys
    now[0] = 61.0
    assert store.get(workspace, subjects) == keys == aws().get(workspace, subjects)
    assert kms.asked == ["generate_data_key", "decrypt", "decrypt"]
    assert {since for since, _ in store._opened.values()} == {61.0}  # no older one is kept open


def test_a_subject_forgotten_by_another_process_is_gone_from_one_that_holds_the_workspaces_key(
    aws: Callable[[], DynamoKeyStore],
) -> None:
    store, workspace, subject, other = aws(), uuid4(), uuid4(), uuid4()
    keys = store.get_or_create(workspace, [subject, other])
    aws().destroy(workspace, subject)
    assert store.get(workspace, [subject, other]) == {other: keys[other]}


def test_keys_that_kms_wrapped_one_by_one_are_still_opened(
    aws: Callable[[], DynamoKeyStore],
) -> None:
    store, subject = aws(), uuid4()
    context = {"workspace_id": str(WORKSPACE), "subject_id": str(subject)}
    old = store._kms.generate_data_key(
        KeyId=store._kms_key_arn, KeySpec="AES_256", EncryptionContext=context
    )
    key = {name: {"S": value} for name, value in context.items()}
    item = {**key, "wrapped_key": {"B": old["CiphertextBlob"]}}
    store._dynamodb.put_item(TableName=TABLE, Item=item)
    assert store.get_or_create(WORKSPACE, [subject]) == {subject: old["Plaintext"]}


WRITER = """
import sys
from pathlib import Path
from typing import Any
from uuid import UUID
from cairn.adapters.files.keys import FileKeyStore

store = FileKeyStore(Path(sys.argv[1]))
workspace = UUID(sys.argv[2])
subjects = [UUID(int=number) for number in range(int(sys.argv[3]))]
for subject in subjects:
    store.get_or_create(workspace, [subject])
    print(subject, flush=True)
print({str(subject): key.hex() for subject, key in store.get(workspace, subjects).items()})
"""


def start_writer(path: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(WORKSPACE), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "shared")},
    )


def test_processes_starting_at_once_on_a_new_file_agree_on_every_key(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path / "keys.sqlite", 20) for _ in range(4)]
    answers = {writer.communicate(timeout=60)[0].splitlines()[-1] for writer in writers}
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    assert len(answers) == 1


def test_a_writer_killed_in_the_middle_leaves_every_announced_key_readable(tmp_path: Path) -> None:
    path = tmp_path / "keys.sqlite"
    writer = start_writer(path, 100_000)
    assert writer.stdout is not None
    announced = [UUID(writer.stdout.readline().strip()) for _ in range(25)]
    writer.send_signal(signal.SIGKILL)
    rest = writer.communicate(timeout=30)[0]
    announced += [UUID(line) for line in rest.splitlines()]
    assert writer.returncode == -signal.SIGKILL
    store = FileKeyStore(path)
    assert store.get(WORKSPACE, announced).keys() == set(announced)
    assert store.get_or_create(WORKSPACE, [uuid4()])


def test_the_files_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "made" / "keys.sqlite"
    FileKeyStore(path).get_or_create(WORKSPACE, [uuid4()])
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {file.name for file in path.parent.iterdir()} == {"keys.sqlite", "keys.sqlite.master"}


def test_neither_a_key_nor_its_wrapping_stays_in_the_file_after_destruction(
    tmp_path: Path,
) -> None:
    path = tmp_path / "keys.sqlite"
    store, subject = FileKeyStore(path), uuid4()
    key = store.get_or_create(WORKSPACE, [subject])[subject]
    connection = sqlite3.connect(path)
    (wrapped,) = connection.execute("SELECT wrapped FROM subject_key").fetchone()
    connection.close()
    before = path.read_bytes()
    assert wrapped in before
    assert key not in before
    store.destroy(WORKSPACE, subject)
    assert wrapped[:16] not in path.read_bytes()
    assert wrapped[-16:] not in path.read_bytes()


def test_a_lost_master_key_is_reported_and_not_replaced(tmp_path: Path) -> None:
    path, subject = tmp_path / "keys.sqlite", uuid4()
    FileKeyStore(path).get_or_create(WORKSPACE, [subject])
    master = tmp_path / "keys.sqlite.master"
    master.unlink()
    for call in (FileKeyStore(path).get, FileKeyStore(path).get_or_create):
        with pytest.raises(Unavailable) as caught:
            call(WORKSPACE, [subject])
        assert caught.value.reason == "key-store-damaged"
    assert not master.exists()


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 32])
def test_a_wrong_master_key_is_reported(tmp_path: Path, content: bytes) -> None:
    path, subject = tmp_path / "keys.sqlite", uuid4()
    FileKeyStore(path).get_or_create(WORKSPACE, [subject])
    (tmp_path / "keys.sqlite.master").write_bytes(content)
    with pytest.raises(Unavailable) as caught:
        FileKeyStore(path).get(WORKSPACE, [subject])
    assert caught.value.reason == "key-store-damaged"


def test_a_file_that_is_no_key_store_is_unavailable_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys.sqlite"
    path.write_bytes(b"something else entirely" * 100)
    with pytest.raises(Unavailable):
        FileKeyStore(path).get_or_create(WORKSPACE, [uuid4()])
    assert path.read_bytes() == b"something else entirely" * 100
