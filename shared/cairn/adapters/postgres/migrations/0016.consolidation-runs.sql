-- Runs of the consolidation, and finding what none has looked at yet.
-- depends: 0014.search-run-retention

-- Ids, counts and sentences of Cairn's own only: no text and no name of anybody.
CREATE TABLE consolidation_run (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  -- waiting -> running -> finished | failed ; waiting -> failed
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'finished', 'failed')),
  trigger text NOT NULL CHECK (trigger IN ('schedule', 'request')),
  dry_run boolean NOT NULL,
  client uuid, -- the data subject of the one client it is for; null: all
  requested_by uuid, -- the principal; null for the schedule
  provider text, -- who planned
  model text,
  counts jsonb NOT NULL DEFAULT '{}',
  cost_usd numeric, -- null: a model without a known price was asked
  undone text[] NOT NULL DEFAULT '{}', -- what the planner leaves to another
  error jsonb,
  execution text, -- of the state machine
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  updated_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX consolidation_run_open ON consolidation_run (workspace_id, updated_at)
  WHERE state IN ('waiting', 'running');

ALTER TABLE consolidation_run ENABLE ROW LEVEL SECURITY;
ALTER TABLE consolidation_run FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON consolidation_run TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON consolidation_run TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON consolidation_run TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON consolidation_run TO cairn_migrator;

-- A request for a run wakes its machine as a document does.
ALTER TABLE outbox DROP CONSTRAINT outbox_topic_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_topic_check CHECK (topic ~ '^[a-z][a-z_]{0,31}$');

-- What no consolidation has looked at, by client, audience and age. Audiences of any length stay
-- short here; two of one hash are told apart by whoever reads the rows.
CREATE INDEX node_unconsolidated ON node (workspace_id, client_id, scope,
    (agents IS NULL), hash_array_extended(coalesce(agents, '{}'), 0),
    hash_array_extended(data_subjects, 0), created_position)
  WHERE label = 'Memory' AND NOT consolidated AND screening = 'clean'
    AND state IN ('active', 'provisional');

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- Memories near to stored ones by their stored vectors: same client, scope and agents, both to be
-- found. What lets them be compared further (whose data they are) is not the finder's to see.
CREATE FUNCTION find_near_memories(
  asked uuid[], model smallint, minimum real, wanted integer
) RETURNS TABLE (node_id uuid, other_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
  SET hnsw.ef_search = 40
  SET hnsw.iterative_scan = relaxed_order
  SET hnsw.max_scan_tuples = 2000
AS $$
DECLARE
  dimensions integer;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR dimensions IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT q.node_id, near.node_id, max(1 - near.distance)::real
      FROM embedding q
     CROSS JOIN LATERAL (
       SELECT e.node_id, e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s) AS distance
         FROM embedding e
        WHERE e.workspace_id = $4 AND e.model_id = %2$s AND e.label = 'Memory'
          AND e.state IN ('active', 'provisional') AND e.client_id = q.client_id
          AND e.scope = q.scope AND e.agents IS NOT DISTINCT FROM q.agents
        ORDER BY e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s)
        LIMIT $3 + 1) AS near
     WHERE q.workspace_id = $4 AND q.node_id = ANY ($1) AND q.model_id = %2$s
       AND q.label = 'Memory' AND q.scope = ANY ($5) AND ($6 IS NULL OR $6 = ANY (q.agents))
       AND near.node_id <> q.node_id AND 1 - near.distance >= $2
     GROUP BY q.node_id, near.node_id
    $query$, dimensions, model)
    USING asked, minimum, wanted, current_workspace(), current_scopes(), current_agent();
END
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION find_near_memories(uuid[], smallint, real, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_near_memories(uuid[], smallint, real, integer) TO cairn_app;
ALTER FUNCTION find_near_memories(uuid[], smallint, real, integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
