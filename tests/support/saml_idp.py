"""An identity provider of SAML 2.0 over HTTP, for tests: pysaml2, which signs by xmlsec1.

A process of its own: `python -m tests.support.saml_idp FOLDER PORT`, with `key.pem` and `cert.pem`
in the folder. `/sp` takes the metadata of the service, `/who` says whom it signs in and how.
"""

# pyright: basic

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from lxml import etree, html  # pyright: ignore[reportAttributeAccessIssue]

if TYPE_CHECKING:
    from collections.abc import Iterator

XMLSEC = shutil.which("xmlsec1")
ROOT = Path(__file__).parents[2]
FORMAT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
SPACES = {
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
TEMPLATE = """<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>
<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>
<ds:SignatureMethod Algorithm="{method}"/><ds:Reference URI="#{id}"><ds:Transforms>
<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>
<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>
<ds:DigestMethod Algorithm="{digest}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>
<ds:SignatureValue/><ds:KeyInfo><ds:X509Data/></ds:KeyInfo></ds:Signature>"""
SHA256 = (
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    "http://www.w3.org/2001/04/xmlenc#sha256",
)


@dataclass
class IdentityProvider:
    """A running one. `url` is where, `folder` has its key and certificate."""

    url: str
    folder: Path

    @property
    def metadata(self) -> str:
        return f"{self.url}/metadata"

    def knows(self, metadata: bytes) -> None:
        """Tell it of a service."""
        httpx.post(f"{self.url}/sp", content=metadata, timeout=60).raise_for_status()

    def signs_in(self, **who: Any) -> None:
        """Say whom it signs in from now on."""
        httpx.post(f"{self.url}/who", json=who, timeout=60).raise_for_status()

    def answers(self, url: str) -> dict[str, str]:
        """Return the form that a browser sends us, which was sent to an address of it."""
        asked = html.fromstring(httpx.get(url, timeout=60).raise_for_status().text)
        fields = dict(asked.forms[0].form_values())
        answer = httpx.post(f"{self.url}/yes", data=fields, timeout=60).raise_for_status()
        return dict(html.fromstring(answer.text).forms[0].form_values())


def make_key(folder: Path, name: str = "") -> None:
    """Make a key and a certificate of it, long out of date: it is a key alone."""
    from datetime import UTC, datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "identity provider")])
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
    certificate = builder.not_valid_after(datetime(2021, 1, 1, tzinfo=UTC)).sign(
        key, hashes.SHA256()
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    (folder / f"{name}key.pem").write_bytes(private)
    (folder / f"{name}cert.pem").write_bytes(certificate.public_bytes(pem))


def sign(
    document: Any, holder: Any, folder: Path, name: str = "", methods: tuple[str, str] = SHA256
) -> Any:
    """Return a document with a new signature of one of its elements, in the place of the old."""
    for old in holder.findall("ds:Signature", SPACES):
        holder.remove(old)
    method, digest = methods
    template = etree.fromstring(TEMPLATE.format(method=method, digest=digest, id=holder.get("ID")))
    holder.find("saml:Issuer", SPACES).addnext(template)
    source, target = folder / "to-sign.xml", folder / "signed.xml"
    source.write_bytes(etree.tostring(document))
    spaces = (SPACES["saml"] + ":Assertion", SPACES["samlp"] + ":Response")
    ids = [item for each in spaces for item in ("--id-attr:ID", each)]
    keys = f"{folder / f'{name}key.pem'},{folder / f'{name}cert.pem'}"
    where = f"//*[@ID='{holder.get('ID')}']/*[local-name()='Signature']"
    command = [str(XMLSEC), "--sign", "--privkey-pem", keys, *ids, "--node-xpath", where]
    subprocess.run(
        [*command, "--output", str(target), str(source)], check=True, capture_output=True
    )
    return etree.fromstring(target.read_bytes())


@contextmanager
def running(folder: Path) -> Iterator[IdentityProvider]:
    """Run one with a new key, in a process of its own."""
    make_key(folder)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        environment = os.environ | {"PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-m", "tests.support.saml_idp", str(folder), str(port)]
        command.append(str(bound.fileno()))
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, pass_fds=[bound.fileno()], stdout=subprocess.PIPE
        )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield IdentityProvider(f"http://127.0.0.1:{port}/idp", folder)
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout:
            process.stdout.close()


def _app(folder: Path, url: str) -> Any:
    from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
    from saml2.config import IdPConfig
    from saml2.metadata import entity_descriptor
    from saml2.saml import NameID
    from saml2.server import Server
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Mount, Route

    base = {
        "entityid": f"{url}/metadata",
        "key_file": str(folder / "key.pem"),
        "cert_file": str(folder / "cert.pem"),
        "xmlsec_binary": XMLSEC,
        "service": {
            "idp": {
                "endpoints": {"single_sign_on_service": [(f"{url}/sso", BINDING_HTTP_REDIRECT)]},
                "policy": {"default": {"lifetime": {"minutes": 5}, "attribute_restrictions": None}},
            }
        },
    }
    state: dict[str, Any] = {"who": {}}

    async def metadata(_: Any) -> Response:
        document = entity_descriptor(IdPConfig().load(dict(base)))
        return Response(str(document), media_type="application/samlmetadata+xml")

    async def know(request: Any) -> Response:
        inline = (await request.body()).decode()
        config = IdPConfig().load({**base, "metadata": {"inline": [inline]}})
        state["server"] = Server(config=config)
        return Response("")

    async def who(request: Any) -> Response:
        state["who"] = json.loads(await request.body())
        return Response("")

    async def ask(request: Any) -> Response:
        fields = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in request.query_params.items()
        )
        return HTMLResponse(
            '<!doctype html><title>Provider</title><link rel="icon" href="data:,">'
            f'<form method="post" action="{url}/yes">{fields}<button>Yes, it is me</button></form>'
        )

    async def agree(request: Any) -> Response:
        form, server, who = await request.form(), state["server"], state["who"]
        request_ = server.parse_authn_request(form["SAMLRequest"], BINDING_HTTP_REDIRECT)
        args = server.response_args(request_.message)
        args.pop("name_id_policy", None)
        answer = server.create_authn_response(
            who["attributes"],
            name_id=NameID(format=who.get("format", FORMAT), text=who["name_id"]),
            authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"},
            sign_response=who.get("sign_response", False),
            sign_assertion=who.get("sign_assertion", True),
            sign_alg=SHA256[0],
            digest_alg=SHA256[1],
            **{name: value for name, value in args.items() if name != "binding"},
        )
        page = server.apply_binding(
            BINDING_HTTP_POST,
            str(answer),
            args["destination"],
            form.get("RelayState", ""),
            response=True,
        )
        return HTMLResponse(page["data"])

    routes = [
        Route("/metadata", metadata),
        Route("/sp", know, methods=["POST"]),
        Route("/who", who, methods=["POST"]),
        Route("/sso", ask),
        Route("/yes", agree, methods=["POST"]),
    ]
    return Starlette(routes=[Mount("/idp", routes=routes)])


def main() -> None:
    """Serve on the socket that the parent bound."""
    import uvicorn

    folder, port, descriptor = sys.argv[1:]
    app = _app(Path(folder), f"http://127.0.0.1:{port}/idp")
    config = uvicorn.Config(app, fd=int(descriptor), log_level="critical", lifespan="off")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
