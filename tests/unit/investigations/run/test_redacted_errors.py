"""What a step raises: Cairn's errors as they are, others without their words."""

import json
import traceback
from typing import Any, cast
from uuid import UUID

import pytest

from cairn.bootstrap.investigations import InvestigationSteps
from cairn.investigations.run.redact_errors import redact_errors
from cairn.kernel.errors import Unavailable
from cairn.safety.destinations import origin


def test_an_unexpected_error_tells_its_type_and_place_and_none_of_its_words() -> None:
    with pytest.raises(Exception, match=":") as raised, redact_errors():
        int("ada@acme.test")
    assert type(raised.value).__name__ == "ValueError"
    assert "test_redacted_errors.py:" in str(raised.value)
    assert raised.value.__suppress_context__
    told = "".join(traceback.format_exception(raised.value))
    assert "invalid literal" not in told


def test_the_place_is_the_last_of_ours() -> None:
    with pytest.raises(Exception, match=r"^destinations\.py:\d+$") as raised, redact_errors():
        origin(1)  # type: ignore[arg-type]
    assert type(raised.value).__name__ == "AttributeError"


def test_cairns_own_errors_stay_as_they_are() -> None:
    with pytest.raises(Unavailable, match="Late") as raised, redact_errors():
        raise Unavailable("Late.", reason="timeout")
    assert raised.value.reason == "timeout"


def test_no_error_is_no_error() -> None:
    with redact_errors():
        assert json.loads("1") == 1


class Broken:
    """Parts that break over what somebody wrote."""

    @property
    def traceparent(self) -> Any:
        return {}["ada@acme.test"]


def test_a_step_of_the_machine_tells_no_words_to_the_history_of_its_execution() -> None:
    steps = InvestigationSteps(parts=cast("Any", Broken()))
    with pytest.raises(Exception, match=r"^investigations\.py:\d+$") as raised:
        steps("PLANNING", UUID(int=1), UUID(int=2), run=1)
    assert type(raised.value).__name__ == "KeyError"
