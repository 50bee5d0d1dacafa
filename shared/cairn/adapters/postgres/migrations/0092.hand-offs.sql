-- Chats that a person takes over: who waits, who answers, and what is said meanwhile.
-- depends: 0091.passkeys

-- 'passed': kept for a person, who answers; what they said is the turn's answer
ALTER TABLE chat_turn
  DROP CONSTRAINT chat_turn_state_check,
  ADD CONSTRAINT chat_turn_state_check
    CHECK (state IN ('running', 'done', 'refused', 'aborted', 'failed', 'passed')),
  DROP CONSTRAINT chat_turn_source_check,
  ADD CONSTRAINT chat_turn_source_check CHECK (source IN ('model', 'rules', 'person'));

CREATE TABLE handoff (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  session bytea NOT NULL CHECK (length(session) = 32), -- as chat_turn has it
  chat_session_id uuid, -- the widget's session; null for a chat of a key
  principal_id uuid NOT NULL, -- whose turns they are
  client_id text CHECK (length(client_id) BETWEEN 1 AND 256),
  -- pending <-> active; pending | active -> returned | ticket; active -> closed
  state text NOT NULL CHECK (state IN ('pending', 'active', 'returned', 'closed', 'ticket')),
  cause text NOT NULL CHECK (cause IN ('customer', 'rules', 'agent', 'operator')),
  operator_id uuid, -- who answers: a person, or a key
  operator text, -- by which name customers know them
  data_subjects uuid[] NOT NULL DEFAULT '{}', -- whose keys seal what is said
  sealed bytea NOT NULL, -- why a person was wanted, and the session's name
  resolution bytea, -- how it was closed
  wait_seconds integer NOT NULL CHECK (wait_seconds > 0), -- pending for longer: a ticket
  away_seconds integer NOT NULL CHECK (away_seconds > 0), -- unanswered for longer: pending again
  seq integer NOT NULL DEFAULT 0, -- of the last line
  requested_at timestamptz NOT NULL,
  moved_at timestamptz NOT NULL,
  heard_at timestamptz NOT NULL, -- of the last line
  unanswered_since timestamptz, -- null: the operator spoke last
  accepted_at timestamptz, -- the first time
  ended_at timestamptz,
  ticket_id uuid,
  PRIMARY KEY (workspace_id, id)
);
-- a chat is with one person at a time
CREATE UNIQUE INDEX handoff_open ON handoff (workspace_id, session) WHERE ended_at IS NULL;
CREATE INDEX handoff_session ON handoff (workspace_id, session, requested_at);
CREATE INDEX handoff_state ON handoff (workspace_id, state, id);
CREATE INDEX handoff_subjects ON handoff USING gin (data_subjects);

CREATE TABLE handoff_line (
  workspace_id uuid NOT NULL,
  handoff_id uuid NOT NULL,
  seq integer NOT NULL CHECK (seq > 0),
  id uuid NOT NULL, -- the turn's, or the one that the operator gave it
  kind text NOT NULL CHECK (kind IN
    ('said', 'requested', 'accepted', 'left', 'returned', 'closed', 'ticket')),
  speaker text NOT NULL CHECK (speaker IN ('customer', 'operator', 'cairn')),
  name text, -- of the operator
  sealed bytea, -- what was said
  recorded boolean NOT NULL, -- the conversation has it, or need not
  at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, handoff_id, seq),
  FOREIGN KEY (workspace_id, handoff_id) REFERENCES handoff (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX handoff_line_id ON handoff_line (workspace_id, handoff_id, id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['handoff', 'handoff_line'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    -- People who only read change nothing here.
    EXECUTE format($p$CREATE POLICY working_adds ON %I AS RESTRICTIVE FOR INSERT TO cairn_app
      WITH CHECK ((SELECT current_person()) IN ('', 'owner', 'admin', 'operator'))$p$, name);
    EXECUTE format($p$CREATE POLICY working_changes ON %I AS RESTRICTIVE FOR UPDATE TO cairn_app
      USING ((SELECT current_person()) IN ('', 'owner', 'admin', 'operator'))$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
-- A key bound to a client has to do with that client's chats alone.
CREATE POLICY own_client ON handoff AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()));
CREATE POLICY own_client ON handoff_line AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR EXISTS (SELECT FROM handoff h
    WHERE h.workspace_id = handoff_line.workspace_id AND h.id = handoff_line.handoff_id));

CREATE OR REPLACE FUNCTION person_may(entry_type text) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT CASE current_person()
  WHEN '' THEN true
  WHEN 'owner' THEN true
  WHEN 'admin' THEN entry_type <> 'key.created'
  WHEN 'operator' THEN entry_type IN ('data_subject.registered', 'subscription.changed')
    OR split_part(entry_type, '.', 1) IN ('memory', 'node', 'edge', 'entity', 'event', 'message',
      'conversation', 'document', 'report', 'task', 'ticket', 'investigation', 'action', 'approval',
      'escalation', 'resolution', 'intent', 'premise', 'member', 'network', 'contact',
      'integration', 'opportunity', 'negotiation', 'workflow', 'handoff')
      AND entry_type NOT IN ('workflow.changed', 'escalation.channel_added',
        'escalation.channel_removed')
  WHEN 'reviewer' THEN entry_type IN ('data_subject.registered', 'memory.corrected', 'memory.pinned',
    'memory.withheld', 'memory.released')
  ELSE false
END $$;
