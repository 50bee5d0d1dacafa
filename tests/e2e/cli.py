"""Runs the `cairn` command as a user would, against a tenant of the test's stack."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.tenant import Tenant

SECONDS = 90


@dataclass(frozen=True, kw_only=True)
class Done:
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the JSON it printed."""
        return json.loads(self.out)


COMMAND = str(Path(sys.executable).with_name("cairn"))


def environment(tenant: Tenant, *, owner: bool = True) -> dict[str, str]:
    """Return what the command reads; without `owner`, only the API is known."""
    hidden = set() if owner else {"CAIRN_DATABASE_URL", "CAIRN_APP_DATABASE_URL"}
    known = {name: value for name, value in tenant.laptop.env.items() if name not in hidden}
    base = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    return {**base, **known, "CAIRN_URL": tenant.base, "CAIRN_API_KEY": tenant.key}


def cairn(
    tenant: Tenant,
    *arguments: str,
    owner: bool = True,
    typed: str = "",
    changed: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> Done:
    """Run `cairn ARGUMENTS` with the tenant's key; without `owner`, only the API is known.

    `typed` is what a person answers, `changed` what is otherwise in the environment.
    """
    ran = subprocess.run(
        [COMMAND, *arguments],
        env={**environment(tenant, owner=owner), **(changed or {})},
        input=f"{typed}\n",
        cwd=tenant.laptop.stack.layout.base,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Done(status=ran.returncode, out=ran.stdout, err=ran.stderr)
