-- Investigations: how far each is, its timeline, what it asked people and tools, how many run, whom it
-- called, and what may be learned from it. Run state, not projections: what happened is in the ledger.
-- Texts are sealed; what stands in clear is ids, states, codes, counts and times.
-- depends: 0052.rebuild
-- squashes: 0044.allowances

CREATE TABLE investigation (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  persona text NOT NULL,
  -- the edges stand in investigations/transitions.py; DONE and HALTED are ends
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
-- what may be learned from
CREATE INDEX investigation_resolved ON investigation (workspace_id, ended_at)
  WHERE verdict = 'auto_resolved' AND state = 'DONE' AND ended_at IS NOT NULL;

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

-- The task token of a question that is decided: one that still waits cannot be answered past it.
CREATE FUNCTION task_token(approval_id uuid) RETURNS text
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT a.task_token FROM approval a
   WHERE a.workspace_id = current_workspace() AND a.id = approval_id AND a.state <> 'pending'
$$;

-- Calls of tools: what was asked for, and what came of it.
CREATE TABLE tool_call (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL, -- the idempotency key the tool is given
  investigation_id uuid, -- null: made by an agent, over MCP or HTTP
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
  principal_id uuid, -- whose key made it; null: an investigation's, which keys with the scope admin see
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, investigation_id) REFERENCES investigation (workspace_id, id),
  CONSTRAINT tool_call_made_by CHECK (investigation_id IS NOT NULL OR principal_id IS NOT NULL)
);
CREATE INDEX tool_call_of_investigation ON tool_call (workspace_id, investigation_id, id);
CREATE INDEX tool_call_of_connector ON tool_call (workspace_id, connector, id);
CREATE INDEX tool_call_principal
  ON tool_call (workspace_id, principal_id, id DESC) WHERE principal_id IS NOT NULL;
CREATE INDEX tool_call_session
  ON tool_call (workspace_id, session_id, id DESC) WHERE session_id IS NOT NULL;
CREATE INDEX tool_call_completed ON tool_call (workspace_id, completed_at)
  WHERE state IN ('applied', 'failed') AND NOT dry_run;

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

-- What people allowed in advance, and how often it was used. Configuration, not a projection: that a
-- grant was made, revoked or used is in the ledger; what it covers stands in both, sealed.
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
