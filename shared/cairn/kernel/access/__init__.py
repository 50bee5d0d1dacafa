"""Who is acting and what they may see. Not authentication: keys are checked in `storage`."""

from cairn.kernel.access.principal import ALL_SCOPES, PersonRole, Principal, Role, Scope

__all__ = ["ALL_SCOPES", "PersonRole", "Principal", "Role", "Scope"]
