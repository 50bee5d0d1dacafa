-- Chat: turns under way and their trace events, and what waits for the person's yes.
-- depends: 0067.chains-of-deleted-workspaces

CREATE TABLE chat_turn (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  principal_id uuid NOT NULL, -- whose key asked; nobody else reads it
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256),
  session bytea NOT NULL, -- the hash of who asked and the session's name
  address bytea, -- the hash of where a public question came from
  state text NOT NULL CHECK (state IN ('running', 'done', 'refused', 'aborted', 'failed')),
  source text CHECK (source IN ('model', 'rules')), -- what answered
  data_subjects uuid[] NOT NULL DEFAULT '{}', -- whose keys seal what was said
  question bytea NOT NULL,
  answer bytea, -- the answer and what belongs to it
  digest bytea NOT NULL, -- of the question: the same id with another one is refused
  seq integer NOT NULL DEFAULT 0, -- of the last event
  created_at timestamptz NOT NULL,
  deadline timestamptz NOT NULL, -- a turn that runs on past it was interrupted
  ended_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX chat_turn_running ON chat_turn (workspace_id, session) WHERE state = 'running';
CREATE INDEX chat_turn_session ON chat_turn (workspace_id, session, created_at);
CREATE INDEX chat_turn_address ON chat_turn (workspace_id, address, created_at) WHERE address IS NOT NULL;
CREATE INDEX chat_turn_created_at ON chat_turn (workspace_id, created_at);

CREATE TABLE chat_event (
  workspace_id uuid NOT NULL,
  turn_id uuid NOT NULL,
  seq integer NOT NULL CHECK (seq > 0),
  name text NOT NULL,
  data jsonb NOT NULL, -- names, numbers and times; no texts
  sealed bytea, -- texts
  at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, turn_id, seq),
  FOREIGN KEY (workspace_id, turn_id) REFERENCES chat_turn (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX chat_event_at ON chat_event (workspace_id, at);

CREATE TABLE chat_action (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  turn_id uuid NOT NULL,
  principal_id uuid NOT NULL,
  session bytea NOT NULL,
  tool text NOT NULL,
  arguments bytea NOT NULL,
  arguments_hash text NOT NULL CHECK (length(arguments_hash) = 64),
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  state text NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed', 'cancelled')),
  result bytea,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, turn_id) REFERENCES chat_turn (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX chat_action_turn ON chat_action (workspace_id, turn_id);
CREATE INDEX chat_action_session ON chat_action (workspace_id, session) WHERE state = 'pending';

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['chat_turn', 'chat_event', 'chat_action'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
-- A key bound to a client sees and begins turns of that client alone.
CREATE POLICY own_client ON chat_turn AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()));
