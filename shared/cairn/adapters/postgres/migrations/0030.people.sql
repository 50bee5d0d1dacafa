-- Calls of people and where they are called; what they said of investigations; what may be learned.
-- Run state, not projections: each change is in the ledger. Sentences are sealed.
-- depends: 0026.replay-sets 0027.investigations 0028.tickets

CREATE TABLE escalation (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  verdict text NOT NULL,
  channel text NOT NULL, -- the last one tried: ticket-note, webhook:<id>, slack:<name>
  -- queued -> delivered | failed ; failed -> queued when somebody asks for another try
  state text NOT NULL CHECK (state IN ('queued', 'delivered', 'failed')),
  why bytea NOT NULL, -- one sentence, sealed
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  attempts integer NOT NULL DEFAULT 0,
  noted boolean NOT NULL DEFAULT false, -- a note stands at the ticket
  error text, -- why the last try failed: a code
  queued_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  delivered_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, investigation_id), -- one an investigation
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id)
);
CREATE INDEX escalation_by_state ON escalation (workspace_id, state, id);

CREATE TABLE escalation_channel (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  name text NOT NULL CHECK (length(name) <= 64),
  kind text NOT NULL CHECK (kind IN ('slack')),
  url bytea NOT NULL, -- whoever has it can post: sealed under the workspace's own key
  created_at timestamptz NOT NULL,
  created_by uuid NOT NULL,
  PRIMARY KEY (workspace_id, name)
);

-- The last word of each principal on an investigation; earlier ones are in the ledger only.
CREATE TABLE investigation_opinion (
  workspace_id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  principal_id uuid NOT NULL,
  id uuid NOT NULL, -- what its content is sealed under
  rating smallint CHECK (rating BETWEEN 1 AND 5), -- null: a dispute
  content bytea NOT NULL, -- the comment or the reason, sealed
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  said_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, investigation_id, principal_id),
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id)
);

-- Resolutions that may become documents once a person says so.
CREATE TABLE kb_candidate (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  cause text NOT NULL CHECK (cause IN ('rated', 'undisputed')),
  -- staged -> accepted | rejected | archived
  state text NOT NULL CHECK (state IN ('staged', 'accepted', 'rejected', 'archived')),
  content bytea NOT NULL, -- title and text, sealed
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  staged_at timestamptz NOT NULL,
  edited_at timestamptz,
  decided_at timestamptz,
  decided_by uuid, -- a principal; null where nobody decided
  reason text, -- a code
  document_id uuid,
  ingestion_id uuid,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, investigation_id), -- one an investigation
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id)
);
CREATE INDEX kb_candidate_by_state ON kb_candidate (workspace_id, state, id);
CREATE INDEX kb_candidate_waiting ON kb_candidate (workspace_id, staged_at) WHERE state = 'staged';

-- what may be learned from
CREATE INDEX investigation_resolved ON investigation (workspace_id, ended_at)
  WHERE verdict = 'auto_resolved' AND state = 'DONE' AND ended_at IS NOT NULL;
CREATE INDEX tool_call_completed ON tool_call (workspace_id, completed_at)
  WHERE state IN ('applied', 'failed') AND NOT dry_run;

-- a fourth part: the note that calls a person
ALTER TABLE ticket_write_back DROP CONSTRAINT ticket_write_back_part_check;
ALTER TABLE ticket_write_back ADD CONSTRAINT ticket_write_back_part_check
  CHECK (part IN ('reply', 'status', 'time', 'note'));

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['escalation', 'escalation_channel', 'investigation_opinion',
    'kb_candidate'] LOOP
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
GRANT SELECT, INSERT, UPDATE ON escalation, investigation_opinion, kb_candidate TO cairn_app;
GRANT SELECT, INSERT, DELETE ON escalation_channel TO cairn_app;
