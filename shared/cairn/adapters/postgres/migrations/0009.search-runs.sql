-- What a search considered, kept whole enough to replay and explain it, and counted once.
-- depends: 0006.graph

ALTER TABLE search_run
  ADD COLUMN request_digest bytea NOT NULL DEFAULT '', -- equal requests of a workspace share it
  ADD COLUMN recipe_used jsonb NOT NULL DEFAULT '{}', -- as workspace, request and route left it
  ADD COLUMN wanted integer NOT NULL DEFAULT 10,
  ADD COLUMN retrieval_class text NOT NULL DEFAULT 'general',
  ADD COLUMN intents jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN seeds uuid[] NOT NULL DEFAULT '{}',
  ADD COLUMN scored jsonb NOT NULL DEFAULT '[]', -- see storage/postgres/packing.py
  ADD COLUMN reranked jsonb NOT NULL DEFAULT '{}', -- node -> score
  ADD COLUMN merged jsonb NOT NULL DEFAULT '{}', -- node -> [node, ...] it stands for
  ADD COLUMN edges jsonb NOT NULL DEFAULT '[]', -- [[source, target, view, relation, weight], ...]
  ADD COLUMN as_of_position bigint,
  ADD COLUMN session_id text,
  ADD COLUMN cached_from uuid,
  ADD COLUMN counted_position bigint, -- the memory.accessed entry that counted it
  ALTER COLUMN signals SET DEFAULT '{}'; -- of runs before `scored`

GRANT UPDATE (counted_position) ON search_run TO cairn_app;
CREATE INDEX search_run_uncounted ON search_run (workspace_id, recorded_at)
  WHERE counted_position IS NULL AND counts_as_access;
CREATE INDEX search_run_session ON search_run (workspace_id, session_id, recorded_at)
  WHERE session_id IS NOT NULL;
