"""What an admin does about the workspace's widget: sets it, shows it, removes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from cairn.accounts.keys import record
from cairn.chat.widget import ChallengeKind, WidgetPart, WidgetSettings
from cairn.kernel.access import Role
from cairn.kernel.errors import FieldError, NotFound, ValidationFailed
from cairn.writing.append import principal_actor
from cairn.writing.secrets import Secrets

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cairn.chat.widget import WidgetRow
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetView:
    """A widget as an admin sees it; never the secret of its challenge's service."""

    id: UUID
    settings: WidgetPart
    has_secret: bool
    spent_usd: Decimal
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepWidget:
    """Sets and removes the one widget of a workspace. Each change is a ledger entry."""

    platform: Platform

    def show(self, principal: Principal) -> WidgetView:
        """Return the widget; NotFound when there is none."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return self._view(stores.widgets.find())

    def set(
        self, principal: Principal, settings: WidgetSettings, *, secret: str | None = None
    ) -> WidgetView:
        """Make the widget, or set all of it anew; its id and a secret that is not given stay."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            row = stores.widgets.find()
        widget_id = row.id if row else self.platform.new_id()
        if settings.challenge is ChallengeKind.TURNSTILE and not (secret or (row and row.secret)):
            wrong = "is needed: Turnstile's answers are checked with it"
            raise ValidationFailed(f"secret {wrong}.", errors=[FieldError("secret", wrong)])
        sealed = None
        if secret:
            seal = Secrets.of(self.platform).sealed
            sealed = seal(principal.workspace_id, widget_id, {"secret": secret})
        with self.platform.transactions.writing(principal) as stores:
            body = settings.model_dump(mode="json")
            stores.widgets.keep(widget_id, body, sealed, self.platform.clock())
            row = stores.widgets.find()
            self._record(stores, principal, "widget.set", row.id if row else widget_id)
            return self._view(row)

    def remove(self, principal: Principal) -> UUID:
        """Remove the widget with its sessions; what was said stays. NotFound without one."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            row = stores.widgets.find()
            if row is None or not stores.widgets.remove():
                raise NotFound("This workspace has no widget.")
            self._record(stores, principal, "widget.removed", row.id)
            return row.id

    def _view(self, row: WidgetRow | None) -> WidgetView:
        if row is None:
            raise NotFound("This workspace has no widget.")
        today = self.platform.clock().astimezone(UTC).date()
        return WidgetView(
            id=row.id,
            settings=WidgetSettings.model_validate(row.settings),
            has_secret=row.secret is not None,
            spent_usd=row.spent(today),
            created_at=row.created_at,
            changed_at=row.changed_at,
        )

    def _record(self, stores: Stores, principal: Principal, type_: str, widget_id: UUID) -> None:
        record(
            stores,
            workspace_id=principal.workspace_id,
            type_=type_,
            meta={"widget_id": str(widget_id)},
            actor=principal_actor(principal),
            now=self.platform.clock(),
            new_id=self.platform.new_id,
        )
