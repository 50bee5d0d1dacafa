"""Implements `IdentityProvider`: the way to it, and who it says came back.

Requests go by the binding HTTP-Redirect and are not signed; answers come by HTTP-POST and are.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from cairn.accounts.admission import MAX_GROUPS, Identity, text_claim
from cairn.accounts.saml_sign_in import Asserted
from cairn.adapters.saml.documents import EMAIL_NAME_ID, NAMESPACES, POST, PROTOCOL, Unfit, etree
from cairn.adapters.saml.responses import Expected
from cairn.kernel.errors import Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.accounts.saml_sign_in import ServiceProvider
    from cairn.adapters.saml.metadata import PublishedMetadata

EMAIL = (
    "email",
    "mail",
    "urn:oid:0.9.2342.19200300.100.1.3",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
)
NAME = (
    "displayName",
    "name",
    "urn:oid:2.16.840.1.113730.3.1.241",
    "http://schemas.microsoft.com/identity/claims/displayname",
)
"""What providers call somebody's address and name, the first that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlProvider:
    """`claim` names the attribute that lists somebody's groups."""

    metadata: PublishedMetadata
    claim: str

    def address(
        self, place: ServiceProvider, request_id: str, relay_state: str, now: datetime
    ) -> str:
        """Return where a browser is sent with a request; Unavailable without metadata."""
        url = self.metadata(now).address
        request = _request(place, request_id, url, now)
        squeezed = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        content = squeezed.compress(request) + squeezed.flush()
        query = {"SAMLRequest": b64encode(content).decode(), "RelayState": relay_state}
        return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"

    def identity(
        self, response: str, place: ServiceProvider, request_id: str | None, now: datetime
    ) -> Asserted:
        """Return whom an answer names; Unauthenticated says what does not hold."""
        provider = self.metadata(now)
        expected = Expected(provider=provider, place=place, request_id=request_id, now=now)
        try:
            stated = expected.statement(response)
        except Unfit as error:
            raise Unauthenticated(
                f"The identity provider's answer {error}.", reason="saml"
            ) from error
        subject = text_claim(stated.name_id)
        if not subject:
            raise Unauthenticated("The identity provider's answer names nobody.", reason="saml")
        email = _first(stated.attributes, EMAIL) or (
            subject if stated.format == EMAIL_NAME_ID else ""
        )
        return Asserted(
            issuer=provider.entity_id,
            id=stated.id,
            ends=stated.ends,
            identity=Identity(
                subject=subject,
                email=email,
                name=_first(stated.attributes, NAME) or email,
                groups=frozenset(stated.attributes.get(self.claim, ())[:MAX_GROUPS]),
            ),
        )


def own_metadata(place: ServiceProvider) -> bytes:
    """Return what an identity provider is told of this deployment."""
    root = _element("md", "EntityDescriptor", entityID=place.entity_id)
    role = _element(
        "md",
        "SPSSODescriptor",
        AuthnRequestsSigned="false",
        WantAssertionsSigned="true",
        protocolSupportEnumeration=PROTOCOL[1:-1],
    )
    for form in ("2.0:nameid-format:persistent", "1.1:nameid-format:emailAddress"):
        name = _element("md", "NameIDFormat")
        name.text = f"urn:oasis:names:tc:SAML:{form}"
        role.append(name)
    service = {"Binding": POST, "Location": place.acs, "index": "0", "isDefault": "true"}
    role.append(_element("md", "AssertionConsumerService", **service))
    root.append(role)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _request(place: ServiceProvider, request_id: str, url: str, now: datetime) -> bytes:
    root = _element(
        "samlp",
        "AuthnRequest",
        ID=request_id,
        Version="2.0",
        IssueInstant=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        Destination=url,
        ProtocolBinding=POST,
        AssertionConsumerServiceURL=place.acs,
    )
    issuer = _element("saml", "Issuer")
    issuer.text = place.entity_id
    root.append(issuer)
    root.append(_element("samlp", "NameIDPolicy", AllowCreate="true"))
    return etree.tostring(root)


def _element(prefix: str, name: str, **attributes: str) -> Any:
    space = NAMESPACES[prefix]
    return etree.Element(f"{{{space}}}{name}", attributes, nsmap={prefix: space})


def _first(attributes: Mapping[str, Sequence[str]], names: Sequence[str]) -> str:
    texts = (text_claim(value) for name in names for value in attributes.get(name, ())[:1])
    return next((text for text in texts if text), "")
