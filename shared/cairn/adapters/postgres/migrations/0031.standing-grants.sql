-- What people allowed in advance, and how often it was used. Configuration, not a projection: that a
-- grant was made, revoked or used is in the ledger; what it covers stands in both, sealed.
-- depends: 0026.replay-sets

CREATE TABLE standing_grant (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  tool text NOT NULL, -- connector.tool
  declaration text NOT NULL, -- SHA-256 (hex) of how the tool declared itself when it was made
  content bytea NOT NULL, -- arguments and reason, sealed
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  expires_at timestamptz NOT NULL,
  max_uses integer NOT NULL CHECK (max_uses > 0),
  uses integer NOT NULL DEFAULT 0,
  made_by uuid NOT NULL, -- a principal
  made_at timestamptz NOT NULL,
  revoked_at timestamptz,
  approval_id uuid, -- the question it was made from
  PRIMARY KEY (workspace_id, id),
  CHECK (uses BETWEEN 0 AND max_uses)
);
CREATE INDEX standing_grant_in_force ON standing_grant (workspace_id, tool, id)
  WHERE revoked_at IS NULL AND uses < max_uses;

-- Which action a use was for: a retried step does not count it again.
CREATE TABLE standing_grant_use (
  workspace_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  action_id uuid NOT NULL,
  used_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, grant_id, action_id),
  FOREIGN KEY (workspace_id, grant_id) REFERENCES standing_grant (workspace_id, id)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['standing_grant', 'standing_grant_use'] LOOP
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

-- What was granted cannot be widened afterwards: only uses, the end and the sealed content change.
GRANT SELECT, INSERT ON standing_grant, standing_grant_use TO cairn_app;
GRANT UPDATE (uses, revoked_at, content) ON standing_grant TO cairn_app;
