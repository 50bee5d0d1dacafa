-- What is not trusted any more: taints, and the nodes each holds back.
-- depends: 0020.forgetting

-- A projection of taint.applied and taint.lifted.
CREATE TABLE taint (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('agent', 'session', 'source', 'node')),
  value text, -- an agent's slug or a session's id; null for the others
  roots uuid[] NOT NULL DEFAULT '{}', -- of a source its documents, of a node itself
  causes boolean NOT NULL, -- whether what it caused is held back too
  reason text NOT NULL,
  position bigint NOT NULL,
  applied_at timestamptz NOT NULL,
  lifted_position bigint, -- null while it stands
  lifted_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX taint_position ON taint (workspace_id, position);

-- A projection of taint.extended. Rows stay when the taint is lifted: they say what was held.
CREATE TABLE taint_node (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  taint_id uuid NOT NULL,
  node_id uuid NOT NULL,
  state text NOT NULL, -- the one to have again
  revived_for uuid, -- set: not held, but standing while this held node does not
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, taint_id, node_id)
);
CREATE INDEX taint_node_node ON taint_node (workspace_id, node_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['taint', 'taint_node'] LOOP
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
GRANT SELECT, INSERT, UPDATE ON taint, taint_node TO cairn_app;
