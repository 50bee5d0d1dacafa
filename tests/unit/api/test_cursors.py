import base64
import json

import pytest

from cairn.api import pages
from cairn.kernel.errors import ValidationFailed

FILTERS = {"type": "fact", "client_id": None}


def test_a_cursor_comes_back_as_the_position_it_was_made_of() -> None:
    cursor = pages.encode(1234, route="memories", filters=FILTERS)
    assert pages.decode(cursor, route="memories", filters=FILTERS) == 1234
    assert pages.decode(None, route="memories", filters=FILTERS) is None


@pytest.mark.parametrize(
    ("route", "filters"),
    [
        ("memories", {"type": "event", "client_id": None}),
        ("memories", {"type": "fact", "client_id": "acme"}),
        ("documents", FILTERS),
    ],
)
def test_a_cursor_is_refused_under_other_filters(route: str, filters: dict[str, str]) -> None:
    cursor = pages.encode(1, route="memories", filters=FILTERS)
    with pytest.raises(ValidationFailed) as refused:
        pages.decode(cursor, route=route, filters=filters)
    assert refused.value.reason == "cursor-filters"


def forged(*payload: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "nonsense",
        "%%%",
        "é",
        "A" * 1000,
        forged(),
        forged(1, "2", "x"),
        forged(1, True, "x"),
        forged(1, -1, "x"),
        forged(1, 2**60, "x"),
        forged(2, 1, "x"),
        base64.urlsafe_b64encode(b"[" * 90).decode(),
    ],
)
def test_a_damaged_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        pages.decode(cursor, route="memories", filters=FILTERS)
    assert refused.value.reason == "bad-cursor"
