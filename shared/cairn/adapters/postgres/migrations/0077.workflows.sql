-- Workflows: every version of each, and their runs. What came of steps are nodes.
-- depends: 0076.token-subject-index

CREATE TABLE workflow (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  version integer NOT NULL CHECK (version > 0),
  id uuid NOT NULL, -- the same over all versions
  body jsonb NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by uuid NOT NULL,
  present boolean NOT NULL,
  due_at timestamptz, -- when a run begins by itself
  removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (workspace_id, name, version)
);
-- one version of a name is the present one; none of a name that was removed
CREATE INDEX workflow_due ON workflow (workspace_id, due_at) WHERE present AND due_at IS NOT NULL;
CREATE UNIQUE INDEX workflow_present ON workflow (workspace_id, name) WHERE present;

CREATE TABLE workflow_run (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  workflow text NOT NULL,
  version integer NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'waiting', 'done', 'failed', 'cancelled')),
  step integer NOT NULL DEFAULT 0 CHECK (step >= 0), -- the place of the next one
  seq integer NOT NULL DEFAULT 0 CHECK (seq >= 0), -- results so far
  execution integer NOT NULL DEFAULT 1 CHECK (execution > 0), -- only the present one moves it
  trigger text NOT NULL CHECK (trigger IN ('request', 'schedule')),
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256),
  principal_id uuid NOT NULL,
  data_subjects uuid[] NOT NULL DEFAULT '{}', -- whose keys seal what it was given
  input bytea NOT NULL,
  code text, -- why it failed
  deadline timestamptz, -- until when it waits
  began boolean NOT NULL DEFAULT false, -- the next step's tool was called
  approval jsonb, -- what a person was asked about that call: hashes, and who said yes
  traceparent text NOT NULL,
  created_at timestamptz NOT NULL,
  moved_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX workflow_run_name ON workflow_run (workspace_id, workflow, id);
CREATE INDEX workflow_run_open ON workflow_run (workspace_id, moved_at) WHERE state IN ('running', 'waiting');

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workflow', 'workflow_run'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO cairn_app', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_migrator', name);
  END LOOP;
END
$$;
