-- How far each search index has followed each workspace. The index itself is outside the database.
-- depends: 0006.graph

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
ALTER TABLE search_index_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_index_state FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON search_index_state TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON search_index_state TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON search_index_state TO cairn_app, cairn_migrator;

-- Nodes by when they changed last. On the versions, because a node's own updates would have to touch
-- every index of its table if `position` were in one.
CREATE INDEX node_version_changed ON node_version (workspace_id, from_position, id)
  WHERE to_position IS NULL;
