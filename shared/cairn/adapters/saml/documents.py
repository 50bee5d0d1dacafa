"""XML of an identity provider, read without what XML can do by itself.

No document type, no entity, no other encoding than UTF-8. What is signed has no comment either: it
would split a text in two, of which a careless reader takes the first.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from lxml import etree as _etree  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]

etree = cast("Any", _etree)

SAML = "{urn:oasis:names:tc:SAML:2.0:assertion}"
PROTOCOL = "{urn:oasis:names:tc:SAML:2.0:protocol}"
METADATA = "{urn:oasis:names:tc:SAML:2.0:metadata}"
DS = "{http://www.w3.org/2000/09/xmldsig#}"
NAMESPACES = {
    "saml": SAML[1:-1],
    "samlp": PROTOCOL[1:-1],
    "md": METADATA[1:-1],
}
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
NAME_ID = "urn:oasis:names:tc:SAML:2.0:nameid-format:"
EMAIL_NAME_ID = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Some providers write the end of time where there is no end: what is later counts as this."""


class Unfit(ValueError):
    """A document that is not what it has to be; the text says what it has, or lacks."""


def read(document: bytes, *, comments: bool = False) -> Any:
    """Return the root element; Unfit for what is no plain XML."""
    if b"<!DOCTYPE" in document or b"<!ENTITY" in document:
        raise Unfit("has a document type")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=comments,
        remove_pis=comments,
    )
    try:
        root = etree.fromstring(document, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unfit("is no XML") from error
    about = root.getroottree().docinfo
    if about.internalDTD is not None or about.externalDTD is not None:
        raise Unfit("has a document type")
    if (about.encoding or "UTF-8").upper() not in ("UTF-8", "US-ASCII", "ASCII"):
        raise Unfit("has another encoding than UTF-8")
    for _ in root.iter(etree.Comment, etree.ProcessingInstruction, etree.Entity):
        raise Unfit("has comments, instructions or entities")
    return root


def text_of(element: Any) -> str:
    """Return an element's whole text; Unfit where there is an element in it."""
    if len(element):
        raise Unfit("has an element where a text belongs")
    return (element.text or "").strip()


def the_one(parent: Any, tag: str) -> Any:
    """Return the one child with a tag; Unfit without it, or with two."""
    children = parent.findall(tag)
    if len(children) != 1:
        raise Unfit(f"needs one {tag.rpartition('}')[2]}")
    return children[0]


def moment_of(text: str) -> datetime:
    """Return a time of the protocol, which is in UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            raise Unfit("has a time without a zone")
        return min(moment, NEVER).astimezone(UTC)
    except Unfit:
        raise
    except (ValueError, OverflowError) as error:
        raise Unfit("has a time that is none") from error
