-- Checkpoints: the states that programs of agents go on from, and what their tasks wrote meanwhile.
-- depends: 0071.agents

CREATE TABLE checkpoint (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL, -- what the seal is bound to; another one each time it is put
  agent text, -- the key's; keys of no other agent see it
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256),
  thread bytea NOT NULL, -- the hash of agent, client and the thread's name
  namespace text COLLATE "C" NOT NULL CHECK (length(namespace) <= 512),
  checkpoint_id text COLLATE "C" NOT NULL CHECK (length(checkpoint_id) BETWEEN 1 AND 128),
  parent_id text,
  run_id text,
  data_subjects uuid[] NOT NULL DEFAULT '{}', -- whose keys seal it
  body bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, thread, namespace, checkpoint_id)
);
CREATE INDEX checkpoint_newest ON checkpoint (workspace_id, client_id, checkpoint_id, id);
CREATE INDEX checkpoint_run ON checkpoint (workspace_id, run_id) WHERE run_id IS NOT NULL;

CREATE TABLE checkpoint_write (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  agent text,
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256),
  thread bytea NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL, -- of a checkpoint that may be put a moment later
  task_id text COLLATE "C" NOT NULL CHECK (length(task_id) BETWEEN 1 AND 128),
  idx integer NOT NULL,
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  body bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, thread, namespace, checkpoint_id, task_id, idx)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['checkpoint', 'checkpoint_write'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format($p$CREATE POLICY own_client ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()))$p$, name);
    EXECUTE format($p$CREATE POLICY own_agent ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_agent()) IS NULL OR coalesce(agent, '') = (SELECT current_agent()))$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
