"""What the settings become: the right adapter, and nothing opened before it is needed."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from cairn.bootstrap import parts
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id


@dataclass(frozen=True)
class Keys:
    key_store: str
    kms_key_arn: str | None = None


def test_a_key_file_is_made_with_the_first_key_and_not_before(tmp_path: Path) -> None:
    place = tmp_path / "keys.sqlite"
    store = parts.key_store(Keys(f"file:{place}"))
    assert not place.exists()
    workspace, subject = new_id(), new_id()
    keys = store.get_or_create(workspace, [subject])
    assert place.exists()
    assert parts.key_store(Keys(f"file:{place}")).get(workspace, [subject]) == keys


def test_a_key_store_opened_later_destroys_as_the_store_does(tmp_path: Path) -> None:
    workspace, subject = new_id(), new_id()
    store = parts.key_store(Keys(f"file:{tmp_path / 'keys.sqlite'}"))
    store.get_or_create(workspace, [subject])
    assert store.destroy(workspace, subject)
    assert store.get(workspace, [subject]) == {}


def test_a_key_table_makes_no_client_before_the_first_key(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(parts, "aws_client", made.append)
    parts.key_store(Keys("dynamodb:keys", "arn:aws:kms:eu-central-1:111122223333:key/k"))
    assert made == []


@pytest.mark.parametrize("wrong", ["", "keys", "s3:bucket", "dynamodb:keys"])
def test_a_setting_that_names_no_store_is_refused_at_once(wrong: str) -> None:
    with pytest.raises(ValidationFailed, match="CAIRN_KEY_STORE"):
        parts.key_store(Keys(wrong))


def test_a_token_is_asked_for_the_host_and_the_user_of_the_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, object]] = []

    class Rds:
        def generate_db_auth_token(self, **given: object) -> str:
            asked.append(given)
            return "token"

    monkeypatch.setattr(parts, "aws_client", lambda _: Rds())
    assert parts.iam_token("postgresql://cairn_app@db.example.org/cairn")() == "token"
    assert asked == [
        {"DBHostname": "db.example.org", "Port": 5432, "DBUsername": "cairn_app"},
    ]
