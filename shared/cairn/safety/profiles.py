"""Which kinds of personal values each redaction profile takes out. Not how they are recognised."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Kind(StrEnum):
    """A kind of value; its placeholder is `<KIND_1>`."""

    EMAIL = "EMAIL"
    PHONE = "PHONE"
    IBAN = "IBAN"
    CARD = "CARD"
    SSN = "SSN"
    IP = "IP"
    NAME = "NAME"
    DOB = "DOB"  # date of birth
    ID = "ID"  # passport, driving licence, national or tax id
    MRN = "MRN"  # medical record number
    MEMBER = "MEMBER"  # health plan, insurance policy
    DATE = "DATE"  # of care: admission, discharge, death
    AGE = "AGE"  # above 89
    ZIP = "ZIP"
    LITERAL = "LITERAL"  # text that looked like a placeholder before anything was replaced
    NUMBER = "NUMBER"  # a JSON number that is one of the kinds above


_DIRECT = frozenset({Kind.EMAIL, Kind.PHONE, Kind.IBAN, Kind.CARD, Kind.SSN, Kind.IP, Kind.ID})
_PERSONAL = _DIRECT | {Kind.NAME, Kind.DOB}
_MEDICAL = frozenset({Kind.MRN, Kind.MEMBER, Kind.DATE, Kind.AGE, Kind.ZIP})

PROFILES: Mapping[str, frozenset[Kind]] = MappingProxyType(
    {
        "none": frozenset[Kind](),
        "soc2": _DIRECT,
        "pii": _PERSONAL,
        "hipaa": _PERSONAL | _MEDICAL,
    }
)
"""Credentials are taken out in every profile, `none` too, and never come back."""

DEFAULT_PROFILE = "pii"
STRICTEST = "hipaa"
SEPARATOR = "+"


def check_profile(name: str, *, field: str = "redaction") -> str:
    """Return `name` when it is a profile; ValidationFailed naming `field` otherwise."""
    if name not in PROFILES:
        message = f"is not one of {', '.join(PROFILES)}"
        raise ValidationFailed(
            f"{field} {message}.",
            reason="unknown-redaction-profile",
            errors=[FieldError(field, message)],
        )
    return name


def kinds_of(*profiles: str) -> frozenset[Kind]:
    """Return what the profiles take out together: a workspace's and a persona's add up.

    An unknown profile takes out all there is: a typing error must not let values through.
    """
    return frozenset[Kind]().union(
        *(PROFILES.get(profile, PROFILES[STRICTEST]) for profile in profiles)
    )


def joined(profiles: Iterable[str]) -> str:
    """Return one name whose kinds are those of all the profiles: one of `PROFILES`."""
    kinds_needed = kinds_of(*profiles)
    return next(name for name, kinds in PROFILES.items() if kinds_needed <= kinds)


def workspace_redaction(settings: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the profile that `workspace.settings` names under `safety.redaction`.

    Where nothing is said it is `pii`. What is no profile becomes the strictest, and is named in
    the second value.
    """
    safety = settings.get("safety", {})
    if not isinstance(safety, dict):
        return STRICTEST, ("safety",)
    name = cast("Mapping[str, Any]", safety).get("redaction", DEFAULT_PROFILE)
    if not isinstance(name, str) or name not in PROFILES:
        return STRICTEST, ("safety.redaction",)
    return name, ()
