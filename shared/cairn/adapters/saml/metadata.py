"""What an identity provider publishes of itself: its name, where browsers go, its certificates.

Read again every hour, and kept for a day while it cannot be read: that is how a new certificate
comes in. The certificates are keys alone: who trusts the metadata does not look at their dates.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from cairn.adapters.http.rest import checked_base_url
from cairn.adapters.saml.documents import (
    DS,
    METADATA,
    PROTOCOL,
    REDIRECT,
    Unfit,
    moment_of,
    read,
    text_of,
    the_one,
)
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from datetime import datetime

GOOD_FOR, AT_LEAST, AT_MOST = 3_600.0, 60.0, 86_400.0
FAILED_FOR = 5.0
"""While nothing was ever read, so long a failure is told to others who wait for the same."""

SECONDS = 10.0
MAX_BYTES = 1_000_000
MAX_CERTIFICATES = 10
LEAST_RSA_BITS = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """An identity provider. `address` is where browsers bring a request."""

    entity_id: str
    address: str
    certificates: tuple[x509.Certificate, ...]


@dataclass(slots=True)
class PublishedMetadata:
    """Metadata at an address, or in a file. `allow_private`: of this network, on a laptop."""

    source: str
    allow_private: bool = False
    stopwatch: Stopwatch = monotonic
    _last: tuple[Provider, float] | None = None
    _tried_at: float | None = None
    _failed: tuple[Unavailable, float] | None = None
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, now: datetime) -> Provider:
        """Return who signs people in; Unavailable when that cannot be known."""
        with self._lock:
            at, last = self.stopwatch(), self._last
            is_good = last is not None and at - last[1] < AT_MOST
            fresh = last is not None and at - last[1] < GOOD_FOR
            tried = self._tried_at is not None and at - self._tried_at < AT_LEAST
            if last is not None and is_good and (fresh or tried):
                return last[0]
            if self._failed and at - self._failed[1] < FAILED_FOR:
                raise self._failed[0]
            self._tried_at = at
            try:
                provider = provider_of(self._document(), now, allow_private=self.allow_private)
            except (CairnError, OSError, Unfit) as error:
                if last is not None and is_good:
                    return last[0]
                self._failed = _unreadable(error), self.stopwatch()
                raise self._failed[0] from error
            self._last, self._failed = (provider, at), None
            return provider

    def _document(self) -> bytes:
        if not self.source.startswith(("https://", "http://")):
            return Path(self.source).read_bytes()
        return _published(self.source, allow_private=self.allow_private)


def _published(url: str, *, allow_private: bool) -> bytes:
    import httpx

    from cairn.adapters.http.outgoing import Outgoing, body_of

    parts = urlsplit(url)
    checked_base_url(f"{parts.scheme}://{parts.netloc}", allow_private=allow_private)
    transport = Outgoing(allow_private=allow_private)
    try:
        with (
            httpx.Client(transport=transport, timeout=SECONDS, trust_env=False) as client,
            client.stream("GET", url) as answer,
        ):
            body = body_of(answer, most=MAX_BYTES, seconds=SECONDS, stopwatch=monotonic)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable("The identity provider does not answer.", reason="saml") from error
    if answer.status_code != 200:
        raise Unfit(f"is answered with status {answer.status_code}")
    if len(body) > MAX_BYTES:
        raise Unfit(f"has more than {MAX_BYTES} bytes")
    return body


def provider_of(document: bytes, now: datetime, *, allow_private: bool = False) -> Provider:
    """Return what metadata say; Unfit for those that nobody can be signed in by."""
    root = read(document, comments=True)
    described = [each for each in root.iter(f"{METADATA}IDPSSODescriptor") if _speaks(each)]
    if len(described) != 1:
        raise Unfit("has not one identity provider of SAML 2.0, but another number")
    (descriptor,) = described
    for element in (root, descriptor.getparent(), descriptor):
        until = element.get("validUntil")
        if until and moment_of(until) <= now:
            raise Unfit("is valid no more (validUntil)")
    if descriptor.get("WantAuthnRequestsSigned") in ("true", "1"):
        raise Unfit("wants signed requests (WantAuthnRequestsSigned), which Cairn does not send")
    entity_id = descriptor.getparent().get("entityID") or ""
    if not 0 < len(entity_id) <= 1_024 or not entity_id.isprintable():
        raise Unfit("has no entityID")
    return Provider(
        entity_id=entity_id,
        address=_address(descriptor, allow_private=allow_private),
        certificates=_certificates(descriptor),
    )


def _speaks(descriptor: Any) -> bool:
    return PROTOCOL[1:-1] in (descriptor.get("protocolSupportEnumeration") or "").split()


def _address(descriptor: Any, *, allow_private: bool) -> str:
    for service in descriptor.findall(f"{METADATA}SingleSignOnService"):
        if service.get("Binding") != REDIRECT:
            continue
        url = service.get("Location") or ""
        try:
            parts = urlsplit(url)
            checked_base_url(f"{parts.scheme}://{parts.netloc}", allow_private=allow_private)
        except (ValidationFailed, ValueError) as error:
            raise Unfit("has no good address to sign in at (https://)") from error
        if parts.fragment or not url.isprintable() or " " in url:
            raise Unfit("has no good address to sign in at")
        return url
    raise Unfit("has no SingleSignOnService of the binding HTTP-Redirect")


def _certificates(descriptor: Any) -> tuple[x509.Certificate, ...]:
    certificates: list[x509.Certificate] = []
    for key in descriptor.findall(f"{METADATA}KeyDescriptor"):
        if key.get("use", "signing") != "signing":
            continue
        data = the_one(key, f"{DS}KeyInfo").findall(f"{DS}X509Data/{DS}X509Certificate")
        certificates += [_certificate(text_of(each)) for each in data]
    if not 0 < len(certificates) <= MAX_CERTIFICATES:
        raise Unfit("has no certificate that it signs with, or too many")
    return tuple(certificates)


def _certificate(text: str) -> x509.Certificate:
    try:
        certificate = x509.load_der_x509_certificate(b64decode("".join(text.split())))
        key = certificate.public_key()
    except ValueError as error:
        raise Unfit("has a certificate that is none") from error
    strong = isinstance(key, rsa.RSAPublicKey) and key.key_size >= LEAST_RSA_BITS
    if not strong and not isinstance(key, ec.EllipticCurvePublicKey):
        raise Unfit(f"has a key that is no RSA of {LEAST_RSA_BITS} bits or more, nor ECDSA")
    return certificate


def _unreadable(error: Exception) -> Unavailable:
    fault = f": the document {error}" if isinstance(error, Unfit) else ""
    return Unavailable(
        f"The metadata of the identity provider cannot be used now{fault}.",
        reason="saml-metadata",
        retry_after=AT_LEAST,
    )
