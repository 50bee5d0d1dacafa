"""The API over its use cases, configured by the environment."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from cairn.accounts.editions import EDITIONS
from cairn.api.app import create_app
from cairn.api.fairness import Limits
from cairn.api.options import BUILT_IN, ApiOptions
from cairn.bootstrap.api import ApiServices
from cairn.bootstrap.parts import embedder, logger, metrics
from cairn.bootstrap.telemetry import flush_at_exit, tell_spans
from cairn.kernel.errors import CairnError
from cairn.settings import ApiSettings, ServerSettings, metrics_folder

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from fastapi import FastAPI

    from cairn.embedding.port import Embedder

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")


def create_asgi_app(server: ServerSettings | None = None) -> FastAPI:
    """Build the app from the environment, for uvicorn and for the api function alike.

    A `server` lives long: it reads the embedding model beside its first requests.
    """
    settings = ApiSettings.read()
    log = logger("api", settings.log_level)
    tell_spans("api", settings)
    model = embedder(settings)
    if server is not None:
        Thread(target=_read, args=(model, log), daemon=True).start()
    services = ApiServices(settings, log, model, server)
    app = create_app(services, _options(settings, server), log=log)
    if server is not None:
        flush_at_exit()
        from cairn.api.mcp.drift import check_agents

        app.state.mcp.require_tools()
        Thread(target=check_agents, args=(services, log), daemon=True).start()
    return app


def _options(settings: ApiSettings, server: ServerSettings | None) -> ApiOptions:
    """Return what the deployment chose. A laptop answers MCP under its own names only."""
    local = settings.stage == "local"
    return ApiOptions(
        request_threads=server.request_threads if server else None,
        fairness=_limits(server) if server else None,
        cors_origins=settings.origins(),
        mcp_hosts=LOOPBACK if local else (),
        console_url=settings.console_url,
        sites_url=settings.sites_url,
        sign_in_issuer=settings.issuer_of_people(),
        sign_in_saml=settings.sign_in_saml if EDITIONS[settings.edition].directory else "",
        issuer=settings.oidc_issuer or (BUILT_IN if local and server else None),
        audiences=settings.audiences(),
        token_scopes=tuple(settings.oidc_scopes.replace(",", " ").split()),
        edge_secrets=settings.secrets_of_edge(),
        edge_only=settings.edge_only == "on",
        metrics=metrics(settings.stage),
        metrics_token=_metrics_token(server),
    )


def _limits(server: ServerSettings) -> Limits:
    return Limits(
        reads_at_once=server.reads_at_once,
        writes_at_once=server.writes_at_once,
        longest_wait=server.longest_wait_seconds,
    )


def _metrics_token(server: ServerSettings | None) -> str | None:
    secret = server.metrics_token if server else None
    return secret.get_secret_value() if secret and metrics_folder() else None


def _read(model: Embedder, log: Logger) -> None:
    try:
        model.load()
    except CairnError as error:
        log.error("embedder.not_loaded", extra={"error": error.code, "reason": error.reason})
