-- Every chain there is, those of deleted workspaces too: they stay, and are verified and anchored with the rest.
-- depends: 0066.small-beside-large

CREATE FUNCTION list_chains() RETURNS TABLE (workspace_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT id FROM workspace ORDER BY id $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION list_chains() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_chains() TO cairn_app;
ALTER FUNCTION list_chains() OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
