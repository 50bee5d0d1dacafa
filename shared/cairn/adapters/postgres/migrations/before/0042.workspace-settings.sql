-- What workspaces have set: rows that follow from their `settings.changed` entries.
-- depends: 0041.feedback-signals

-- `workspace.settings` is what stood there before; it holds until the first change over the API, whose
-- entry takes it over.
CREATE TABLE workspace_settings (
  workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
  version bigint NOT NULL CHECK (version > 0), -- how often they were changed
  document jsonb NOT NULL, -- what was set, by section; defaults are not in it
  position bigint NOT NULL
);
ALTER TABLE workspace_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace_settings FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON workspace_settings TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON workspace_settings TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON workspace_settings TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_settings TO cairn_migrator;
