"""Who acts as which member."""

from dataclasses import replace

import pytest

from cairn.discovery.networks.acting import acting
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Denied, ValidationFailed
from cairn.kernel.ids import new_id

OPERATOR = Principal(
    workspace_id=new_id(),
    principal_id=new_id(),
    role=Role.ADMIN,
    allowed_scopes=frozenset(Scope),
)
MEMBER = replace(OPERATOR, role=Role.AGENT, client_id="ada")


def test_an_operators_key_is_confined_to_the_member_it_acts_for() -> None:
    assert acting(OPERATOR, "ada").client_id == "ada"


def test_a_members_key_is_the_member_whether_it_says_so_or_not() -> None:
    assert acting(MEMBER) == acting(MEMBER, "ada") == MEMBER


def test_a_members_key_acts_for_nobody_else() -> None:
    with pytest.raises(Denied, match="another client"):
        acting(MEMBER, "ben")


def test_a_public_key_acts_for_nobody() -> None:
    with pytest.raises(Denied):
        acting(replace(MEMBER, role=Role.PUBLIC), "ada")


@pytest.mark.parametrize("client_id", [None, "global", "", "a" * 257, "a\x00b", "\ud800"])
def test_an_operators_key_names_a_member(client_id: str | None) -> None:
    with pytest.raises(ValidationFailed, match="client_id"):
        acting(OPERATOR, client_id)
