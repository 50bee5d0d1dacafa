"""Which part of an answer is signed: the one assertion in it, and perhaps the answer itself.

Nothing that was not signed leaves this module: what is returned is read from the bytes that the
signature is about. A document with a second assertion, a second of anything's id, or a signature
where none belongs is refused before that, since it is made so that two readers see two things.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cryptography.exceptions import UnsupportedAlgorithm
from signxml.algorithms import DigestAlgorithm, SignatureMethod
from signxml.exceptions import SignXMLException
from signxml.verifier import SignatureConfiguration, XMLVerifier

from cairn.adapters.saml.documents import DS, PROTOCOL, SAML, Unfit, etree, read, the_one

if TYPE_CHECKING:
    from cryptography import x509

ASSERTION, RESPONSE = f"{SAML}Assertion", f"{PROTOCOL}Response"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
CANONICAL = frozenset({EXCLUSIVE, f"{EXCLUSIVE}WithComments"})
ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
METHODS = frozenset(
    {
        SignatureMethod.RSA_SHA256,
        SignatureMethod.RSA_SHA384,
        SignatureMethod.RSA_SHA512,
        SignatureMethod.SHA256_RSA_MGF1,
        SignatureMethod.SHA384_RSA_MGF1,
        SignatureMethod.SHA512_RSA_MGF1,
        SignatureMethod.ECDSA_SHA256,
        SignatureMethod.ECDSA_SHA384,
        SignatureMethod.ECDSA_SHA512,
    }
)
DIGESTS = frozenset({DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512})


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """An assertion as it was signed. `response` is the answer where that is signed, too."""

    assertion: Any
    response: Any | None


def signed(document: bytes, certificates: tuple[x509.Certificate, ...]) -> Signed:
    """Return what was signed; Unfit unless it is whole, by one of the keys, every signature."""
    root = read(document)
    assertion = _only_assertion(root)
    _require_ids(root)
    signatures = list(root.iter(f"{DS}Signature"))
    holders = [signature.getparent() for signature in signatures]
    if not signatures:
        raise Unfit("is not signed")
    if len(set(holders)) != len(holders) or not {*holders} <= {root, assertion}:
        raise Unfit("has a signature where none belongs")
    verified: dict[Any, Any] = {}
    for signature, holder in zip(signatures, holders, strict=True):
        _require_plain(signature, holder.get("ID") or "")
        verified[holder] = _verified(document, holder, certificates)
    response, own = verified.get(root), verified.get(assertion)
    if own is None:
        own = _only_assertion(response)
    return Signed(assertion=own, response=response)


def _only_assertion(root: Any) -> Any:
    if root.tag != RESPONSE:
        raise Unfit("is no Response")
    if next(root.iter(f"{SAML}EncryptedAssertion", f"{SAML}EncryptedID"), None) is not None:
        raise Unfit("is encrypted: let the identity provider sign, and not encrypt, for Cairn")
    assertions = list(root.iter(ASSERTION))
    if len(assertions) != 1 or assertions[0].getparent() is not root:
        raise Unfit("needs one Assertion")
    return assertions[0]


def _require_ids(root: Any) -> None:
    ids = [
        value
        for element in root.iter(etree.Element)
        for name, value in element.attrib.items()
        if name.rpartition("}")[2].lower() == "id"
    ]
    if len(set(ids)) != len(ids):
        raise Unfit("has an ID twice")


def _require_plain(signature: Any, id_: str) -> None:
    """Raise Unfit unless a signature is about the element around it and nothing else."""
    about = the_one(signature, f"{DS}SignedInfo")
    canonical = the_one(about, f"{DS}CanonicalizationMethod").get("Algorithm")
    reference = the_one(about, f"{DS}Reference")
    transforms = [
        each.get("Algorithm")
        for each in the_one(reference, f"{DS}Transforms").findall(f"{DS}Transform")
    ]
    if not id_ or reference.get("URI") != f"#{id_}":
        raise Unfit("has a signature of something else")
    if canonical not in CANONICAL or transforms[:1] != [ENVELOPED] or len(transforms) > 2:
        raise Unfit("has a signature of another form")
    if not {*transforms[1:]} <= CANONICAL or signature.find(f"{DS}Object") is not None:
        raise Unfit("has a signature of another form")


def _verified(document: bytes, holder: Any, certificates: tuple[x509.Certificate, ...]) -> Any:
    """Return an element from the bytes that its signature is about."""
    verifier = cast("Any", XMLVerifier())
    for certificate in certificates:
        config = SignatureConfiguration(
            location="./" if holder.tag == RESPONSE else f"./{ASSERTION}/",
            signature_methods=METHODS,
            digest_algorithms=DIGESTS,
            verification_time=certificate.not_valid_before_utc,
        )
        try:
            result = verifier.verify(
                document, x509_cert=certificate, id_attribute="ID", expect_config=config
            )
        except (SignXMLException, UnsupportedAlgorithm, etree.LxmlError, ValueError, TypeError):
            continue
        element = read(result.signed_data)
        if element.tag == holder.tag and element.get("ID") == holder.get("ID"):
            return element
    raise Unfit("has a signature that does not hold, or is of another key or of SHA-1")
