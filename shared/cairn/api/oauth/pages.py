"""The pages on which an admin lets a client in. Plain HTML: no script, no cookie, nothing fetched.

The admin's key is typed on the page and goes nowhere else, so that no other page can say yes.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.api.oauth.issuer import AuthorizationRequest

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cairn: sign in</title>
<style>body{{font:16px/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem}}
label{{display:block;margin:1rem 0 .2rem}}input[type=text],input[type=password]{{width:100%}}
button{{margin:1.5rem 1rem 0 0;font:inherit}}.wrong{{color:#a00}}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""


def page(title: str, body: str, *, status: int = 200) -> HTMLResponse:
    """Return a page; `body` is HTML."""
    text = _PAGE.format(title=escape(title), body=body)
    return HTMLResponse(text, status_code=status, headers=HEADERS)


def notice(title: str, text: str, *, status: int = 200) -> HTMLResponse:
    """Return a page that says one thing."""
    return page(title, f"<p>{escape(text)}</p>", status=status)


def consent(
    request: AuthorizationRequest,
    action: str,
    hidden: Mapping[str, str],
    *,
    slug: str = "",
    wrong: str = "",
) -> HTMLResponse:
    """Return the page that asks an admin whether a client is let in."""
    where = urlsplit(request.redirect_uri).netloc if request.redirect_uri else "a device"
    fields = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in hidden.items()
    )
    scopes = "".join(
        f'<label><input type="checkbox" name="scope" value="{scope}" checked> {scope}</label>'
        for scope in sorted(request.scopes)
    )
    body = f"""{f'<p class="wrong">{escape(wrong)}</p>' if wrong else ""}
<p>A client that calls itself <b>{escape(request.client.name)}</b> wants to use this memory. The
answer goes to <b>{escape(where)}</b>. Go on only if you started this yourself.</p>
<form method="post" action="{escape(action)}">{fields}
<label for="slug">The agent it signs in as</label>
<input type="text" id="slug" name="slug" value="{escape(slug)}" required>
<p>It may see, and write where it may see:</p>{scopes}
<label for="key">An admin key of the workspace</label>
<input type="password" id="key" name="key" autocomplete="off">
<button name="answer" value="yes">Let it in</button>
<button name="answer" value="no">Refuse</button></form>"""
    return page("Let a client in?", body, status=400 if wrong else 200)


def code_form(action: str, *, wrong: str = "") -> HTMLResponse:
    """Return the page that asks for the code a device shows."""
    body = f"""{f'<p class="wrong">{escape(wrong)}</p>' if wrong else ""}
<form method="get" action="{escape(action)}"><label for="code">The code the device shows</label>
<input type="text" id="code" name="user_code" autocomplete="off" required>
<button>Go on</button></form>"""
    return page("Sign a device in", body, status=400 if wrong else 200)
