-- What searches did, what readers said of it, and how far an index outside the database is.
-- depends: 0049.finders
-- squashes: 0044.allowances

-- What a search considered and returned, whole enough to replay and explain it; written once, counted
-- later.
CREATE TABLE search_run (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  principal_id uuid NOT NULL,
  recipe text NOT NULL,
  recorded_at timestamptz NOT NULL,
  returned uuid[] NOT NULL,
  candidates jsonb NOT NULL, -- leg -> [[node, score], ...]
  signals jsonb NOT NULL DEFAULT '{}', -- node -> signal -> value, of runs before `scored`
  degraded text[] NOT NULL,
  duration_ms double precision NOT NULL,
  counts_as_access boolean NOT NULL,
  request_digest bytea NOT NULL DEFAULT '', -- equal requests of a workspace share it
  recipe_used jsonb NOT NULL DEFAULT '{}', -- as workspace, request and route left it
  wanted integer NOT NULL DEFAULT 10,
  retrieval_class text NOT NULL DEFAULT 'general',
  intents jsonb NOT NULL DEFAULT '{}',
  seeds uuid[] NOT NULL DEFAULT '{}',
  scored jsonb NOT NULL DEFAULT '[]', -- see adapters/postgres/memory/search_runs.py
  reranked jsonb NOT NULL DEFAULT '{}', -- node -> score
  merged jsonb NOT NULL DEFAULT '{}', -- node -> [node, ...] it stands for
  edges jsonb NOT NULL DEFAULT '[]', -- [[source, target, view, relation, weight], ...]
  as_of_position bigint,
  session_id text,
  cached_from uuid,
  counted_position bigint, -- the memory.accessed entry that counted it
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX search_run_recorded_at ON search_run (recorded_at);
CREATE INDEX search_run_uncounted ON search_run (workspace_id, recorded_at)
  WHERE counted_position IS NULL AND counts_as_access;
CREATE INDEX search_run_session ON search_run (workspace_id, session_id, recorded_at)
  WHERE session_id IS NOT NULL;

-- Searches of every workspace before a moment, the oldest first, at most `most` of them. One whose
-- results are still to be counted stays, and so does any of the last day, whatever moment is given.
-- Says how many went.
CREATE FUNCTION drop_search_runs(before timestamptz, most integer) RETURNS bigint
  LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH due AS (
    SELECT r.workspace_id, r.id FROM search_run r
     WHERE r.recorded_at < least(before, now() - interval '1 day')
       AND (r.counted_position IS NOT NULL OR NOT r.counts_as_access)
     ORDER BY r.recorded_at LIMIT most
  ), gone AS (
    DELETE FROM search_run r USING due
     WHERE r.workspace_id = due.workspace_id AND r.id = due.id RETURNING 1
  )
  SELECT count(*) FROM gone
$$;

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
  recipe text, -- searches are dropped after a month, what was said of them stays
  signal text
    CHECK (signal IS NULL OR retrieval_reason = 'proactive'
      AND signal IN ('recurring_pattern', 'entity_context', 'retrieval_history')),
  PRIMARY KEY (workspace_id, search_id, node_id, principal_id)
);

-- A row a workspace and index: every node changed up to `position` is in it. What is behind is the
-- nodes past it, so nothing else has to be remembered when an update fails.
CREATE TABLE search_index_state (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  index_name text NOT NULL CHECK (length(index_name) BETWEEN 1 AND 100),
  position bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0, -- documents the index would not take
  indexed_at timestamptz,
  failed_at timestamptz, -- null: the last update went well
  failure text,
  PRIMARY KEY (workspace_id, index_name)
);
