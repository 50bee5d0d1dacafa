"""A certificate authority of a test, and a door with TLS before a server that has none."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.support.mail import loop_thread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Authority:
    """What trusts only this authority, and what shows certificates of it."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def trusting(self) -> ssl.SSLContext:
        """A client's context."""
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    def serving(self, name: str = "127.0.0.1") -> ssl.SSLContext:
        """A server's context, with a certificate for an address or a name."""
        key = ec.generate_private_key(ec.SECP256R1())
        kind = (
            x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
        )
        alternative = x509.SubjectAlternativeName([kind])
        builder = _builder(name, self.certificate.subject, key).add_extension(alternative, False)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        certificate = builder.add_extension(identifier, False).sign(self.key, hashes.SHA256())
        file = self.folder / f"{name}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def authority(folder: Path) -> Authority:
    """Make one."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A test's authority")])
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    builder = _builder("A test's authority", subject, key)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .add_extension(usage, True)
        .add_extension(identifier, False)
        .sign(key, hashes.SHA256())
    )
    return Authority(folder=folder, key=key, certificate=certificate)


def _builder(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
    )


@contextmanager
def tls_door(port: int, context: ssl.SSLContext) -> Iterator[int]:
    """Take TLS connections and hand what they say to a port; yields the door's own port."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass  # one of both hung up
        finally:
            writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))

    with loop_thread() as loop:
        begun = asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
        server = asyncio.run_coroutine_threadsafe(begun, loop).result(20)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            loop.call_soon_threadsafe(server.close)
