"""A workspace's redaction profile is what its settings say by now."""

from typing import TYPE_CHECKING

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.workspaces import PostgresProfiles
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

SETTINGS = [
    ("{}", "pii"),
    ('{"safety": {"redaction": "hipaa"}}', "hipaa"),
    ('{"safety": {"redaction": "none"}, "models": {}}', "none"),
    ('{"safety": {"redaction": 7}}', "hipaa"),
]


def test_a_change_holds_at_once(database: "Database") -> None:
    name = f"profiles-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=1)
    profile = PostgresProfiles(pool)
    for settings, expected in SETTINGS:
        with database.connect_as_superuser() as root:
            asked = [settings, workspace_id]
            root.execute("UPDATE workspace SET settings = %s WHERE id = %s", asked)
        assert profile(workspace_id) == expected
    assert profile(new_id()) == "pii"
    pool.close()
