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

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['purged_node'] LOOP
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

-- A purge deletes; policies decide which rows, as for every other statement.
GRANT DELETE ON node, edge TO cairn_app;
