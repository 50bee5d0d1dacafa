-- Walking the graph: entities by name, and what readers said of nodes they did not ask for.
-- depends: 0009.search-runs

-- Entities by their casefolded names; lower() is not leakproof, so the index is hidden under row
-- level security. The guard is that of searches. A name may mean several entities, one an audience
-- and type; `types` narrows a name that came from an alias.
CREATE FUNCTION find_entities(names text[], types text[], wanted integer)
  RETURNS TABLE (name text, node_id uuid)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
BEGIN
  IF workspace IS NULL OR scopes IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT DISTINCT asked.name, n.id
      FROM unnest(names, types) AS asked (name, type)
      JOIN node n ON n.workspace_id = workspace
       AND n.label = 'Entity'
       AND lower(n.canonical_name) = asked.name
       AND (asked.type IS NULL OR n.kind = asked.type)
     WHERE n.scope = ANY (scopes)
       AND (agent IS NULL OR agent = ANY (n.agents))
       AND n.state NOT IN ('deleted', 'quarantined')
     LIMIT wanted;
END
$$;
GRANT SELECT (canonical_name) ON node TO cairn_finder;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION find_entities(text[], text[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_entities(text[], text[], integer) TO cairn_app;
ALTER FUNCTION find_entities(text[], text[], integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

-- What a reader said of a node a search returned, the last word of each principal. Not a
-- projection: it measures searches, and says nothing about the world.
CREATE TABLE search_feedback (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  search_id uuid NOT NULL,
  node_id uuid NOT NULL,
  principal_id uuid NOT NULL,
  useful boolean NOT NULL,
  retrieval_reason text NOT NULL CHECK (retrieval_reason IN ('direct', 'proactive')),
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, search_id, node_id, principal_id)
);
ALTER TABLE search_feedback ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_feedback FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON search_feedback TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON search_feedback TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON search_feedback TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON search_feedback TO cairn_migrator;
