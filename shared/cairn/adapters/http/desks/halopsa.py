"""HaloPSA as a kind of ticket source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cairn.adapters.http.desks.asking import COMMON, AskDesk, ClientCredentials, files_of, settled
from cairn.adapters.http.desks.declaring import Fields, HelpDesk, is_secret, is_text
from cairn.tickets.desks.halopsa import STATUSES, HaloAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening

SCOPE = "all"


def _open(opening: Opening) -> HaloAdapter:
    config, secrets = opening.config, opening.secrets
    site = str(config["site_url"]).rstrip("/")
    tenant = f"?tenant={quote(config['tenant'], safe='')}" if "tenant" in config else ""
    form = {
        "client_id": config["client_id"],
        "client_secret": secrets["client_secret"],
        "scope": SCOPE,
    }
    sign_in = ClientCredentials(
        opening.service("HaloPSA", config.get("auth_url", f"{site}/auth"), words=_words),
        f"/token{tenant}",
        form,
        opening.stopwatch,
    )
    service = opening.service("HaloPSA", f"{site}/api", words=_words)
    outcomes = {
        name: config[name] for name in ("public_outcome", "private_outcome") if name in config
    }
    return HaloAdapter(
        api=AskDesk(service=service, sign_in=sign_in, renews=True),
        file=files_of(service, sign_in),
        clock=opening.clock,
        **outcomes,
        **settled(config, STATUSES),
    )


def _words(body: Mapping[str, Any]) -> str:
    described = body.get("error_description") or body.get("error") or body.get("message")
    return str(described or "")


DESK = HelpDesk(
    kind=SourceKind.HALOPSA,
    config=Fields(
        needed={"site_url": is_text, "client_id": is_text},
        allowed={
            "auth_url": is_text,
            "tenant": is_text,
            "public_outcome": is_text,
            "private_outcome": is_text,
            **COMMON,
        },
    ),
    secrets=Fields(needed={"client_secret": is_secret}),
    open=_open,
)
