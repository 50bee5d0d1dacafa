"""Bodies open with every key of sealing and no other; the cache keeps keys for a minute."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.keys import InMemoryKeyStore
from tests.unit.ledger.chains import KEYS, NOW, OTHER_SUBJECT, OTHER_WORKSPACE, SUBJECT, WORKSPACE

from cairn.ledger.keys import BodyCipher, BodyUnreadable, KeyCache, SubjectForgotten, key_subjects

ENTRY = UUID(int=42)
BOTH = (SUBJECT, OTHER_SUBJECT)
BOTH_KEYS = {subject: KEYS[subject] for subject in BOTH}
BODY = {"text": "Grüße 😀", "confidence": 0.85, "tags": ["a", None]}
CIPHER = BodyCipher()


def unreadable(
    sealed: bytes,
    *,
    entry: UUID = ENTRY,
    workspace: UUID = WORKSPACE,
    subjects: Collection[UUID] = BOTH,
    keys: Mapping[UUID, bytes] = BOTH_KEYS,
) -> str:
    with pytest.raises(BodyUnreadable) as caught:
        CIPHER.open(entry, workspace, subjects, keys, sealed)
    return caught.value.reason


def test_a_body_opens_with_the_keys_it_was_sealed_with_in_any_order() -> None:
    sealed = CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY)
    backwards = dict(reversed(BOTH_KEYS.items()))
    assert CIPHER.open(ENTRY, WORKSPACE, BOTH[::-1], backwards, sealed) == BODY


def test_keys_of_other_subjects_in_the_mapping_do_not_matter() -> None:
    sealed = CIPHER.seal(ENTRY, WORKSPACE, {SUBJECT: KEYS[SUBJECT]}, BODY)
    assert CIPHER.open(ENTRY, WORKSPACE, [SUBJECT], KEYS, sealed) == BODY


def test_ciphertext_shows_nothing_and_never_repeats() -> None:
    first = CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY)
    assert b"confidence" not in first
    assert first != CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY)


@pytest.mark.parametrize("lost", BOTH)
def test_losing_any_one_key_makes_the_body_unreadable(lost: UUID) -> None:
    sealed = CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY)
    left = {subject: key for subject, key in BOTH_KEYS.items() if subject != lost}
    assert unreadable(sealed, keys=left) == "key-destroyed"
    assert unreadable(sealed, keys=left, subjects=list(left)) == "not-authentic"


def test_a_body_does_not_open_in_another_place() -> None:
    sealed = CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY)
    assert unreadable(sealed, entry=UUID(int=43)) == "not-authentic"
    assert unreadable(sealed, workspace=OTHER_WORKSPACE) == "not-authentic"
    swapped = {SUBJECT: KEYS[OTHER_SUBJECT], OTHER_SUBJECT: KEYS[SUBJECT]}
    assert unreadable(sealed, keys=swapped) == "not-authentic"


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_altered_byte_is_noticed(place: int, change: int) -> None:
    sealed = bytearray(CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY))
    sealed[place % len(sealed)] ^= change
    assert unreadable(bytes(sealed)) == "not-authentic"


@pytest.mark.parametrize("length", [0, 1, 12, 13, 28, 40])
def test_a_truncated_body_is_noticed(length: int) -> None:
    sealed = CIPHER.seal(ENTRY, WORKSPACE, BOTH_KEYS, BODY)
    assert unreadable(sealed[:length]) == "not-authentic"


def test_the_format_is_the_documented_one() -> None:
    fixed = BodyCipher(random_bytes=lambda count: b"\x05" * count)
    sealed = fixed.seal(ENTRY, WORKSPACE, {SUBJECT: KEYS[SUBJECT]}, {"a": 1})
    assert sealed[:13] == b"\x01" + b"\x05" * 12
    assert len(sealed) == 13 + len('{"a":1}') + 16


@pytest.mark.parametrize("keys", [{}, {SUBJECT: b"short"}])
def test_sealing_without_a_proper_key_is_a_programming_error(keys: dict[UUID, bytes]) -> None:
    with pytest.raises(ValueError, match="at least one key"):
        CIPHER.seal(ENTRY, WORKSPACE, keys, BODY)


def test_a_body_about_nobody_is_sealed_under_the_workspaces_key() -> None:
    assert key_subjects(WORKSPACE, []) == (WORKSPACE,)
    assert key_subjects(WORKSPACE, [OTHER_SUBJECT, SUBJECT, SUBJECT]) == BOTH


class CountingStore(InMemoryKeyStore):
    """Counts the subjects it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[UUID] = []

    def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
        self.asked += subject_ids
        return super().get(workspace_id, subject_ids)

    def get_or_create(
        self, workspace_id: UUID, subject_ids: Collection[UUID]
    ) -> Mapping[UUID, bytes]:
        self.asked += subject_ids
        return super().get_or_create(workspace_id, subject_ids)


class MovingClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def test_the_cache_asks_the_store_once_a_minute() -> None:
    store, clock = CountingStore(), MovingClock()
    cache = KeyCache(store, clock)
    first = cache.get_or_create(WORKSPACE, [SUBJECT])
    clock.move(59.9)
    assert cache.get(WORKSPACE, [SUBJECT]) == first
    assert store.asked == [SUBJECT]
    clock.move(0.1)
    assert cache.get(WORKSPACE, [SUBJECT]) == first
    assert store.asked == [SUBJECT, SUBJECT]


def test_the_cache_asks_only_for_what_it_misses_and_not_across_workspaces() -> None:
    store = CountingStore()
    cache = KeyCache(store, MovingClock())
    cache.get_or_create(WORKSPACE, [SUBJECT])
    both = cache.get_or_create(WORKSPACE, BOTH)
    assert both.keys() == set(BOTH)
    assert store.asked == [SUBJECT, OTHER_SUBJECT]
    assert cache.get(OTHER_WORKSPACE, [SUBJECT]) == {}


def test_absence_is_not_remembered() -> None:
    store = CountingStore()
    cache = KeyCache(store, MovingClock())
    assert cache.get(WORKSPACE, [SUBJECT]) == {}
    key = store.get_or_create(WORKSPACE, [SUBJECT])
    assert cache.get(WORKSPACE, [SUBJECT]) == key


def test_destroying_through_the_cache_takes_effect_at_once() -> None:
    cache = KeyCache(CountingStore(), MovingClock())
    cache.get_or_create(WORKSPACE, BOTH)
    assert cache.destroy(WORKSPACE, SUBJECT)
    assert cache.get(WORKSPACE, BOTH).keys() == {OTHER_SUBJECT}
    with pytest.raises(SubjectForgotten):
        cache.get_or_create(WORKSPACE, [SUBJECT])


def test_a_key_destroyed_while_it_is_being_fetched_is_not_kept() -> None:
    class Racing(InMemoryKeyStore):
        def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
            found = super().get(workspace_id, subject_ids)
            cache.destroy(workspace_id, SUBJECT)
            return found

    store = Racing()
    cache = KeyCache(store, MovingClock())
    store.get_or_create(WORKSPACE, [SUBJECT])
    assert cache.get(WORKSPACE, [SUBJECT]).keys() == {SUBJECT}  # read before it was destroyed
    assert cache.get(WORKSPACE, [SUBJECT]) == {}


def test_the_cache_holds_no_more_keys_than_told() -> None:
    store = CountingStore()
    cache = KeyCache(store, MovingClock(), max_keys=2)
    for number in range(4):
        cache.get_or_create(WORKSPACE, [UUID(int=number)])
    store.asked.clear()
    cache.get(WORKSPACE, [UUID(int=3), UUID(int=2)])
    assert store.asked == []
    cache.get(WORKSPACE, [UUID(int=0)])
    assert store.asked == [UUID(int=0)]
