-- Deleting a workspace: its chain of sealed entries stays, whose keys are destroyed, and nothing else.
-- depends: 0064.incoming-webhooks

ALTER TABLE workspace ADD COLUMN deleted_at timestamptz;
GRANT SELECT (deleted_at) ON workspace TO cairn_finder;

GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
CREATE OR REPLACE FUNCTION list_workspaces() RETURNS TABLE (workspace_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT id FROM workspace WHERE deleted_at IS NULL ORDER BY id $$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
