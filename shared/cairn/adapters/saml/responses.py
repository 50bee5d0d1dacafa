"""Whether an answer is of this sign-in, for this deployment, and good now; and whom it names.

The profile of web browser single sign-on (section 4.1.4 of the SAML 2.0 profiles), strictly: what
is missing does not hold either.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.accounts.tokens import LEEWAY
from cairn.adapters.saml.documents import (
    NAME_ID,
    PROTOCOL,
    SAML,
    Unfit,
    moment_of,
    read,
    text_of,
    the_one,
)
from cairn.adapters.saml.signatures import signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.accounts.saml_sign_in import ServiceProvider
    from cairn.adapters.saml.metadata import Provider

BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
CONDITIONS = frozenset(
    f"{SAML}{name}" for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")
)
MAX_ID_CHARS = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an assertion that holds says. `ends` is when nobody takes it any more."""

    id: str
    ends: datetime
    name_id: str
    format: str
    attributes: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What an answer is held to; `request_id` is None for one that nobody asked for."""

    provider: Provider
    place: ServiceProvider
    request_id: str | None
    now: datetime

    def statement(self, response: str) -> Statement:
        """Return what an answer states; Unfit says what does not hold."""
        try:
            document = b64decode("".join(response.split()), validate=True)
        except ValueError as error:
            raise Unfit("is not in base64") from error
        self._require_success(read(document))
        parts = signed(document, self.provider.certificates)
        if parts.response is not None:
            self._require_success(parts.response, is_signed=True)
        assertion = parts.assertion
        self._require_issuer(the_one(assertion, f"{SAML}Issuer"))
        id_ = assertion.get("ID") or ""
        if assertion.get("Version") != "2.0" or not 0 < len(id_) <= MAX_ID_CHARS:
            raise Unfit("is not of version 2.0")
        self._require_conditions(the_one(assertion, f"{SAML}Conditions"))
        self._require_sign_in(assertion.findall(f"{SAML}AuthnStatement"))
        subject = the_one(assertion, f"{SAML}Subject")
        ends = self._confirmed_until(subject.findall(f"{SAML}SubjectConfirmation"))
        name_id = the_one(subject, f"{SAML}NameID")
        form = name_id.get("Format") or ""
        if form == f"{NAME_ID}transient":
            raise Unfit("names people otherwise each time: choose a NameID that lasts, persistent")
        return Statement(
            id=id_,
            ends=ends,
            name_id=text_of(name_id),
            format=form,
            attributes=_attributes(assertion),
        )

    def _require_success(self, response: Any, *, is_signed: bool = False) -> None:
        """Raise Unfit for what the answer around the assertion says."""
        status = the_one(the_one(response, f"{PROTOCOL}Status"), f"{PROTOCOL}StatusCode")
        if status.get("Value") != SUCCESS:
            raise Unfit("says that it signed nobody in")
        if response.get("Version") != "2.0":
            raise Unfit("is not of version 2.0")
        destination = response.get("Destination")
        if destination != self.place.acs and (destination is not None or is_signed):
            raise Unfit("is for another address (Destination)")
        if (answered := response.get("InResponseTo")) is not None or self.request_id is None:
            self._require_of_this_request(answered)
        for issuer in response.findall(f"{SAML}Issuer"):
            self._require_issuer(issuer)

    def _require_issuer(self, issuer: Any) -> None:
        if text_of(issuer) != self.provider.entity_id:
            raise Unfit("is of another identity provider (Issuer)")

    def _require_of_this_request(self, answered: str | None) -> None:
        if answered != self.request_id:
            raise Unfit("answers another request (InResponseTo)")

    def _require_conditions(self, conditions: Any) -> None:
        self._require_now(conditions)
        if any(each.tag not in CONDITIONS for each in conditions):
            raise Unfit("has a condition that nobody here knows")
        audiences = conditions.findall(f"{SAML}AudienceRestriction")
        if not audiences:
            raise Unfit("is for nobody (AudienceRestriction)")
        for each in audiences:
            names = {text_of(audience) for audience in each.findall(f"{SAML}Audience")}
            if self.place.entity_id not in names:
                raise Unfit("is for somebody else (Audience)")

    def _require_sign_in(self, statements: Sequence[Any]) -> None:
        if not statements:
            raise Unfit("says nothing of a sign-in (AuthnStatement)")
        for each in statements:
            ends = each.get("SessionNotOnOrAfter")
            if ends is not None and moment_of(ends) + LEEWAY <= self.now:
                raise Unfit("is of a session that is over")

    def _require_now(self, element: Any) -> None:
        begins, ends = element.get("NotBefore"), element.get("NotOnOrAfter")
        if begins is not None and moment_of(begins) - LEEWAY > self.now:
            raise Unfit("is not good yet (NotBefore)")
        if ends is not None and moment_of(ends) + LEEWAY <= self.now:
            raise Unfit("is good no more (NotOnOrAfter)")

    def _confirmed_until(self, confirmations: Sequence[Any]) -> datetime:
        """Return until when the bearer may bring it; Unfit says why the last of them does not."""
        fault = Unfit("is confirmed by nobody (SubjectConfirmation)")
        for each in confirmations:
            if each.get("Method") != BEARER:
                continue
            try:
                data = the_one(each, f"{SAML}SubjectConfirmationData")
                if data.get("Recipient") != self.place.acs:
                    raise Unfit("is for another address (Recipient)")
                if data.get("NotOnOrAfter") is None:
                    raise Unfit("has no end (NotOnOrAfter)")
                self._require_now(data)
                self._require_of_this_request(data.get("InResponseTo"))
                return moment_of(data.get("NotOnOrAfter")) + LEEWAY
            except Unfit as error:
                fault = error
        raise fault


def _attributes(assertion: Any) -> Mapping[str, Sequence[str]]:
    attributes: dict[str, list[str]] = {}
    for each in assertion.findall(f"{SAML}AttributeStatement/{SAML}Attribute"):
        values = each.findall(f"{SAML}AttributeValue")
        texts = [text_of(value) for value in values if not len(value)]
        attributes.setdefault(each.get("Name") or "", []).extend(texts)
    return attributes
