-- What leaves every projection: purged nodes, and forgettings that can be taken up again.
-- depends: 0014.search-run-retention

-- Nodes that are gone from every projection: random ids, so that indexes outside the database learn
-- of it. The position is that of the entry that purged them.
CREATE TABLE purged_node (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX purged_node_position ON purged_node (workspace_id, position, id);

-- One row a forgotten data subject, kept for good: it says what was done, bars writes that still hold
-- the subject's id, and lets a forgetting that was interrupted go on. Ids and counts, no names.
CREATE TABLE forgetting (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  subject_id uuid NOT NULL, -- the random id the ledger knows it by
  kind text NOT NULL CHECK (kind IN ('client', 'person', 'source')),
  mark bytea NOT NULL CHECK (length(mark) = 32), -- HMAC of the name under a key that is not in here
  keyed boolean NOT NULL, -- false: a source of before sources had keys; its bodies stay readable
  reason text NOT NULL CHECK (reason IN ('request', 'retention', 'mistake', 'other')),
  principal_id uuid NOT NULL,
  -- begun -> marked (tombstone written) -> barred (key destroyed) -> purged -> done
  status text NOT NULL CHECK (status IN ('begun', 'marked', 'barred', 'purged', 'done')),
  position bigint NOT NULL, -- the head when it was begun; the tombstone names it
  purged_position bigint, -- the last entry that purged
  document_ids uuid[] NOT NULL DEFAULT '{}', -- of a source: its documents when it was begun
  object_keys text[] NOT NULL DEFAULT '{}', -- bytes still to be deleted: names made of ids
  counts jsonb NOT NULL DEFAULT '{}',
  begun_at timestamptz NOT NULL,
  done_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, subject_id)
);
CREATE INDEX forgetting_mark ON forgetting (workspace_id, kind, mark);

-- A source has a key of its own, as a client or a person has.
ALTER TABLE data_subject DROP CONSTRAINT data_subject_kind_check;
ALTER TABLE data_subject ADD CONSTRAINT data_subject_kind_check
  CHECK (kind IN ('client', 'person', 'source'));

-- Whose text a cached vector was made for first, so that it goes with it. Rows of before this column
-- do not know; the first forgetting of a workspace takes all of those.
ALTER TABLE embedding_cache ADD COLUMN node_id uuid;
GRANT UPDATE (node_id) ON embedding_cache TO cairn_app;
CREATE INDEX embedding_cache_node ON embedding_cache (workspace_id, node_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['purged_node', 'forgetting'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_migrator', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE, DELETE ON purged_node TO cairn_app;
GRANT SELECT, INSERT, UPDATE ON forgetting TO cairn_app;

-- A purge deletes; policies decide which rows, as for every other statement.
GRANT DELETE ON node, edge, data_subject, ingestion, search_run, search_feedback, key_conversation
  TO cairn_app;
