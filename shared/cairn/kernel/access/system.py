"""Cairn acting on its own behalf inside one workspace: stages woken by queues and schedules."""

from uuid import UUID

from cairn.kernel.access.principal import ALL_SCOPES, Principal, Role

NOBODY = UUID(int=0)


def checking_principal() -> Principal:
    """Return who checks records before they are sent: an admin of no workspace."""
    return Principal(
        workspace_id=NOBODY,
        principal_id=NOBODY,
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        name="import",
    )


def system_principal(workspace_id: UUID) -> Principal:
    """Return the principal of a stage; it has no key and cannot be signed in as."""
    return Principal(
        workspace_id=workspace_id,
        principal_id=workspace_id,
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        name="cairn",
    )
