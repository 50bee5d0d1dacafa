"""Metadata of an identity provider: what is taken of them, when they are read, what is refused."""

# pyright: basic

from __future__ import annotations

import os
from base64 import b64encode
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from cairn.accounts.tokens import LEEWAY
from cairn.adapters.saml import metadata
from cairn.adapters.saml.documents import Unfit, moment_of
from cairn.adapters.saml.metadata import PublishedMetadata, provider_of
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

EXTERNAL = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
NOW = datetime(2026, 11, 28, tzinfo=UTC)


def certificate(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "provider")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).serial_number(1)
    made = (
        builder.public_key(key.public_key())
        .not_valid_before(NOW.replace(year=2020))
        .not_valid_after(NOW.replace(year=2021))
        .sign(key, hashes.SHA256())
    )
    return b64encode(made.public_bytes(serialization.Encoding.DER)).decode()


FIRST, SECOND, SHORT, CURVE = (
    certificate(key)
    for key in (
        rsa.generate_private_key(public_exponent=65_537, key_size=2_048),
        rsa.generate_private_key(public_exponent=65_537, key_size=3_072),
        rsa.generate_private_key(public_exponent=65_537, key_size=1_024),
        ec.generate_private_key(ec.SECP256R1()),
    )
)


def key(text: str, use: str = 'use="signing"') -> str:
    return (
        f'<md:KeyDescriptor {use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">'
        f"<ds:X509Data><ds:X509Certificate>\n{text}\n</ds:X509Certificate></ds:X509Data>"
        "</ds:KeyInfo></md:KeyDescriptor>"
    )


def document(keys: str = "", *, binding: str = "HTTP-Redirect", **changes: str) -> bytes:
    given = {
        "entity": 'entityID="https://idp.example.org/saml"',
        "speaks": "urn:oasis:names:tc:SAML:2.0:protocol",
        "role": "",
        "url": "https://idp.example.org/sso?tenant=1",
        "before": "",
    } | changes
    return f"""{given["before"]}<!-- as Shibboleth comments it -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" {given["entity"]}>
<md:IDPSSODescriptor protocolSupportEnumeration="{given["speaks"]}" {given["role"]}>
{keys or key(FIRST)}
<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
 Location="https://idp.example.org/post"/>
<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:{binding}"
 Location="{given["url"]}"/>
</md:IDPSSODescriptor></md:EntityDescriptor>""".encode()


def test_the_name_the_address_and_the_keys_that_sign_are_taken() -> None:
    keys = key(FIRST) + key(CURVE, "") + key(SHORT, 'use="encryption"') + key(SECOND)
    provider = provider_of(document(keys), NOW)
    assert provider.entity_id == "https://idp.example.org/saml"
    assert provider.address == "https://idp.example.org/sso?tenant=1"
    assert len(provider.certificates) == 3  # though all are out of date: they are keys alone


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no XML"),
        (b"<html>", "is no XML"),
        (
            document(before='<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
            "document type",
        ),
        (document(speaks="urn:oasis:names:tc:SAML:1.1:protocol"), "not one identity provider"),
        (document(entity=""), "no entityID"),
        (document(entity='entityID="x" validUntil="2026-11-27T00:00:00Z"'), "valid no more"),
        (document(role='WantAuthnRequestsSigned="true"'), "signed requests"),
        (document(binding="SOAP"), "binding HTTP-Redirect"),
        (document(url="http://idp.example.org/sso"), "no good address"),
        (document(url="javascript:alert(1)"), "no good address"),
        (document(url="https://user@idp.example.org/"), "no good address"),
        (document(url="https://idp.example.org/#x"), "no good address"),
        (document(key(FIRST, 'use="encryption"')), "no certificate"),
        (document(key("AAAA")), "certificate that is none"),
        (document(key(SHORT)), "2048 bits"),
        (document(key(FIRST) * 11), "too many"),
    ],
)
def test_metadata_that_sign_nobody_in_are_refused_and_say_why(content: bytes, said: str) -> None:
    with pytest.raises(Unfit, match=said):
        provider_of(content, NOW)


def test_a_file_is_read_again_each_hour_and_what_was_read_holds_for_a_day(tmp_path: Path) -> None:
    source, at = tmp_path / "metadata.xml", [0.0]
    published = PublishedMetadata(str(source), stopwatch=lambda: at[0])
    with pytest.raises(Unavailable, match="cannot be used now"):
        published(NOW)
    source.write_bytes(document(role='WantAuthnRequestsSigned="1"'))
    with pytest.raises(Unavailable) as again:  # told to those who waited for the same
        published(NOW)
    assert "signed requests" not in str(again.value)
    at[0] += metadata.FAILED_FOR
    with pytest.raises(Unavailable, match="wants signed requests"):
        published(NOW)
    at[0] += metadata.FAILED_FOR
    source.write_bytes(document())
    assert len(published(NOW).certificates) == 1
    source.write_bytes(document(key(FIRST) + key(SECOND)))
    at[0] += metadata.GOOD_FOR - 1
    assert len(published(NOW).certificates) == 1
    at[0] += 1
    assert len(published(NOW).certificates) == 2
    source.write_bytes(os.urandom(100))
    at[0] += metadata.GOOD_FOR
    assert len(published(NOW).certificates) == 2
    source.write_bytes(document())
    at[0] += metadata.AT_LEAST - 1  # what failed is not tried again at once
    assert len(published(NOW).certificates) == 2
    source.unlink()
    at[0] += metadata.AT_MOST
    for _ in range(3):  # and nothing of a day before, however often somebody asks
        with pytest.raises(Unavailable):
            published(NOW)
        at[0] += metadata.FAILED_FOR


def test_the_end_of_time_is_a_time_and_what_no_clock_shows_is_none() -> None:
    for text in ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-05:00"):
        assert moment_of(text) + LEEWAY > NOW
    with pytest.raises(Unfit, match="a time that is none"):
        moment_of("0001-01-01T00:00:00+05:00")


def test_an_address_inside_the_network_is_asked_by_a_laptop_alone() -> None:
    for url in ("http://127.0.0.1:9/metadata", "https://127.0.0.1:9/metadata"):
        with pytest.raises(Unavailable) as refused:
            PublishedMetadata(url)(NOW)
        assert "ValidationFailed" in repr(refused.value.__cause__)
