"""A grant made from a question: its arguments exactly, its people, and of no other tool."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from tests.support.remembering import NOON, admin_of

from cairn.investigations.grants import GrantFromQuestion
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.safety.grants import NewGrant

WORKSPACE, SUBJECT, ASKED = new_id(), new_id(), new_id()


@dataclass
class Questions:
    """One question, about one person, and the grants that were made."""

    made: list[NewGrant] = field(default_factory=list[NewGrant])

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[Any]:
        yield SimpleNamespace(approvals=self)

    writing = reading

    def find(self, approval_id: UUID) -> Any:
        question = SimpleNamespace(tool="accounts.unlock", data_subjects=(SUBJECT,))
        return question if approval_id == ASKED else None

    def show(self, principal: Principal, approval_id: UUID) -> Any:
        return SimpleNamespace(arguments={"user": "a*@example.com", "days": 3})

    def make(self, principal: Principal, new: NewGrant) -> Any:
        self.made.append(new)
        return new

    @property
    def grant(self) -> GrantFromQuestion:
        return GrantFromQuestion(transactions=self, show=self.show, make=self.make)  # type: ignore[arg-type]


def wanted(**changes: Any) -> NewGrant:
    given: dict[str, Any] = {
        "tool": "accounts.unlock",
        "arguments": {"user": "*"},
        "expires_at": NOON + timedelta(days=1),
        "max_uses": 1,
        "reason": "Harmless.",
    }
    return NewGrant(**given | changes)


def test_as_asked_it_covers_exactly_what_was_shown_and_is_sealed_for_whom_it_is_about() -> None:
    questions = Questions()
    questions.grant(admin_of(WORKSPACE), wanted(approval_id=ASKED), as_asked=True)
    [made] = questions.made
    assert made.arguments == {"user": r"a\*@example.com", "days": 3}
    assert made.data_subjects == (SUBJECT,)


def test_other_arguments_may_be_named_for_the_same_people() -> None:
    questions = Questions()
    questions.grant(admin_of(WORKSPACE), wanted(approval_id=ASKED))
    [made] = questions.made
    assert (made.arguments, made.data_subjects) == ({"user": "*"}, (SUBJECT,))


def test_without_a_question_it_is_what_was_said() -> None:
    questions = Questions()
    questions.grant(admin_of(WORKSPACE), wanted())
    assert questions.made == [wanted()]


@pytest.mark.parametrize(
    ("new", "as_asked", "error"),
    [
        (wanted(), True, ValidationFailed),
        (wanted(approval_id=new_id()), True, NotFound),
        (wanted(approval_id=ASKED, tool="accounts.delete"), True, ValidationFailed),
        (wanted(approval_id=ASKED, tool="accounts.delete"), False, ValidationFailed),
    ],
)
def test_what_was_not_asked_is_not_granted(
    new: NewGrant, as_asked: bool, error: type[Exception]
) -> None:
    questions = Questions()
    with pytest.raises(error):
        questions.grant(admin_of(WORKSPACE), new, as_asked=as_asked)
    assert questions.made == []


@pytest.mark.parametrize("role", [Role.AGENT, Role.PUBLIC])
def test_only_admins_grant(role: Role) -> None:
    questions = Questions()
    with pytest.raises(Denied):
        questions.grant(replace(admin_of(WORKSPACE), role=role), wanted(approval_id=ASKED))
    assert questions.made == []
