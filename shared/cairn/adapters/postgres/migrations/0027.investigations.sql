-- Investigations: how far each is, its timeline, what it asked people and tools, and how many run.
-- Run state, not projections: what happened is in the ledger. Texts are sealed; what stands in clear
-- is ids, states, codes, counts and times.
-- depends: 0026.replay-sets

CREATE TABLE investigation (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  persona text NOT NULL,
  -- the edges stand in agent/transitions.py; DONE and HALTED are ends
  state text NOT NULL CHECK (state IN ('CREATED', 'PLANNING', 'RETRIEVING', 'SAFETY_CHECK',
    'WAITING_APPROVAL', 'ACTING', 'OBSERVING', 'VERDICT', 'WRITING_BACK', 'DONE', 'HALTED')),
  verdict text CHECK (verdict IN ('auto_resolved', 'needs_tech', 'needs_l2', 'needs_client',
    'skipped', 'failed', 'failed_budget')),
  snapshot bytea NOT NULL, -- working memory, sealed for the ticket's data subjects
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  tokens bigint NOT NULL DEFAULT 0,
  usd numeric NOT NULL DEFAULT 0,
  ms bigint NOT NULL DEFAULT 0,
  iterations integer NOT NULL DEFAULT 0,
  unpriced_calls integer NOT NULL DEFAULT 0,
  run integer NOT NULL DEFAULT 1, -- which execution of the state machine counts
  execution text, -- its name
  traceparent text,
  error text, -- a code
  created_at timestamptz NOT NULL,
  moved_at timestamptz NOT NULL, -- the last transition
  ended_at timestamptz, -- it is in an end state, and everybody was told
  PRIMARY KEY (workspace_id, id),
  CHECK (ended_at IS NULL OR state IN ('DONE', 'HALTED'))
);
-- a ticket has at most one that is in no end state
CREATE UNIQUE INDEX investigation_open ON investigation (workspace_id, ticket_id)
  WHERE state NOT IN ('DONE', 'HALTED');
-- what should be moving
CREATE INDEX investigation_moving ON investigation (workspace_id, moved_at)
  WHERE ended_at IS NULL AND state <> 'WAITING_APPROVAL';
CREATE INDEX investigation_by_state ON investigation (workspace_id, state, id);
CREATE INDEX investigation_by_ticket ON investigation (workspace_id, ticket_id, id);

-- The timeline. A line's text is the body of the ledger entry at `position`.
CREATE TABLE investigation_step (
  workspace_id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  seq integer NOT NULL CHECK (seq > 0),
  state text NOT NULL,
  system text NOT NULL,
  action text NOT NULL,
  kind text NOT NULL,
  ms bigint NOT NULL,
  position bigint NOT NULL,
  line integer NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, investigation_id, seq),
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id)
);

-- Questions to people. The task token answers the machine that waits: nobody selects it; a definer
-- function hands it out once its question is no longer pending.
CREATE TABLE approval (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  action_id uuid NOT NULL,
  tool text NOT NULL,
  binding text NOT NULL, -- SHA-256 (hex) over tool, arguments, evidence, policy version and expiry
  policy_version text NOT NULL,
  content bytea NOT NULL, -- the action as shown, sealed
  -- pending -> granted | rejected | edited | expired | void ; granted -> used | void
  state text NOT NULL CHECK (state IN ('pending', 'granted', 'used', 'rejected', 'edited', 'expired',
    'void')),
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  asked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_at timestamptz,
  decided_by uuid, -- a principal; null where nobody decided
  decision_position bigint,
  task_token text,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id)
);
CREATE INDEX approval_pending ON approval (workspace_id, id) WHERE state = 'pending';
CREATE INDEX approval_due ON approval (workspace_id, expires_at) WHERE state = 'pending';
CREATE INDEX approval_of_investigation ON approval (workspace_id, investigation_id, id);

-- Calls of tools: what was asked for, and what came of it.
CREATE TABLE tool_call (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL, -- the idempotency key the tool is given
  investigation_id uuid NOT NULL,
  connector text NOT NULL,
  tool text NOT NULL,
  lane text NOT NULL,
  digest text NOT NULL, -- SHA-256 (hex) over tool and canonical arguments
  -- proposed -> denied | started ; started -> applied | failed | unknown
  state text NOT NULL CHECK (state IN ('proposed', 'denied', 'started', 'applied', 'failed',
    'unknown')),
  dry_run boolean NOT NULL,
  is_error boolean NOT NULL,
  input bytea NOT NULL, -- sealed, cut
  output bytea NOT NULL, -- sealed, cut
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  proposed_at timestamptz NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  error text, -- a code
  session_id text,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id)
);
CREATE INDEX tool_call_of_investigation ON tool_call (workspace_id, investigation_id, id);
CREATE INDEX tool_call_of_connector ON tool_call (workspace_id, connector, id);

-- How many run at once: a row a slot, made when it is first needed.
CREATE TABLE investigation_slot (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  slot integer NOT NULL CHECK (slot > 0),
  investigation_id uuid, -- who holds it; null: free
  taken_at timestamptz,
  PRIMARY KEY (workspace_id, slot)
);
CREATE UNIQUE INDEX investigation_slot_holder ON investigation_slot (workspace_id, investigation_id)
  WHERE investigation_id IS NOT NULL;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['investigation', 'investigation_step', 'approval', 'tool_call',
    'investigation_slot'] LOOP
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
GRANT SELECT, INSERT, UPDATE ON investigation, tool_call, investigation_slot TO cairn_app;
GRANT SELECT, INSERT ON investigation_step TO cairn_app;
GRANT INSERT, UPDATE ON approval TO cairn_app;
GRANT SELECT (workspace_id, id, investigation_id, ticket_id, action_id, tool, binding,
  policy_version, content, state, data_subjects, asked_at, expires_at, decided_at, decided_by,
  decision_position) ON approval TO cairn_app;

-- The task token of a question that is decided: one that still waits cannot be answered past it.
CREATE FUNCTION task_token(approval_id uuid) RETURNS text
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT a.task_token FROM approval a
   WHERE a.workspace_id = current_workspace() AND a.id = approval_id AND a.state <> 'pending'
$$;

GRANT SELECT (workspace_id, id, state, task_token) ON approval TO cairn_finder;
CREATE POLICY finder ON approval TO cairn_finder USING (true);
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION task_token(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION task_token(uuid) TO cairn_app;
ALTER FUNCTION task_token(uuid) OWNER TO cairn_finder;

-- A sweep takes what its process can send, and is told the batch: the run of an investigation.
DROP FUNCTION claim_outbox(integer, timestamptz, timestamptz);
CREATE FUNCTION claim_outbox(
  wanted integer, stale timestamptz, moment timestamptz, topics text[]
) RETURNS TABLE (workspace_id uuid, id uuid, topic text, node_ids uuid[], reference uuid,
    "position" bigint, attempts smallint, batch integer)
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  UPDATE outbox o SET sent_at = moment, attempts = o.attempts + 1
    FROM (SELECT c.workspace_id, c.id FROM outbox c
           WHERE c.topic = ANY (topics)
             AND (c.sent_at IS NULL
              OR c.sent_at < stale - least(c.attempts, 24) * interval '1 hour'
                               - CASE c.topic WHEN 'ingestion' THEN interval '1 hour'
                                              ELSE interval '0' END)
           ORDER BY c.created_at LIMIT wanted FOR UPDATE SKIP LOCKED) AS due
   WHERE o.workspace_id = due.workspace_id AND o.id = due.id
  RETURNING o.workspace_id, o.id, o.topic, o.node_ids, o.reference, o.position, o.attempts, o.batch
$$;
GRANT SELECT (batch) ON outbox TO cairn_finder;
REVOKE ALL ON FUNCTION claim_outbox(integer, timestamptz, timestamptz, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_outbox(integer, timestamptz, timestamptz, text[]) TO cairn_app;
ALTER FUNCTION claim_outbox(integer, timestamptz, timestamptz, text[]) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
