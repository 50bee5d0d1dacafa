-- Negotiations of two members' agents: how each stands, its signed turns, what a side keeps to itself.
-- depends: 0080.contacts

CREATE TABLE negotiation (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  opportunity_id uuid NOT NULL,
  network_id uuid NOT NULL,
  source_id uuid, -- the member whose discovery it is, who proposes; null: forgotten
  candidate_id uuid,
  source_intent uuid,
  candidate_intent uuid,
  source_role text NOT NULL CHECK (source_role IN ('agent', 'patient', 'peer')), -- as said last
  candidate_role text NOT NULL CHECK (candidate_role IN ('agent', 'patient', 'peer')),
  score smallint NOT NULL CHECK (score BETWEEN 0 AND 100),
  trigger text NOT NULL CHECK (trigger IN ('ambient', 'orchestrator')),
  state text NOT NULL CHECK (state IN ('open', 'waiting', 'ended')),
  outcome text CHECK (outcome IN ('accepted', 'rejected', 'rejected_stalled', 'waiting_for_agent',
    'timed_out', 'turn_cap', 'expired')),
  cap smallint CHECK (cap > 0), -- null: both sides bring agents, there is a day
  seq integer NOT NULL DEFAULT 0 CHECK (seq >= 0), -- turns so far
  speaker text NOT NULL CHECK (speaker IN ('source', 'candidate')), -- whose turn it is
  head bytea NOT NULL CHECK (length(head) = 32), -- of the newest turn
  undecided smallint NOT NULL DEFAULT 0, -- counters and questions in a row
  fit_total integer NOT NULL DEFAULT 0,
  fit_count integer NOT NULL DEFAULT 0,
  people_asked boolean NOT NULL DEFAULT false,
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  deadline timestamptz, -- when it goes on by itself; null: ended
  claim uuid, -- the speaking side's agent has taken the turn up
  claimed_by text,
  claim_until timestamptz,
  failures integer NOT NULL DEFAULT 0, -- turns that failed, which are none
  failure text, -- a code: what the newest of them was
  data_subjects uuid[] NOT NULL,
  begun_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  ended_at timestamptz CHECK ((ended_at IS NULL) = (state <> 'ended')),
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX negotiation_opportunity ON negotiation (workspace_id, opportunity_id);
CREATE INDEX negotiation_due ON negotiation (workspace_id, deadline) WHERE state <> 'ended';
CREATE INDEX negotiation_source ON negotiation (workspace_id, source_id, id);
CREATE INDEX negotiation_candidate ON negotiation (workspace_id, candidate_id, id);

CREATE TABLE negotiation_turn ( -- as its ledger entry says; there again to be read
  workspace_id uuid NOT NULL,
  negotiation_id uuid NOT NULL,
  seq integer NOT NULL CHECK (seq > 0),
  id uuid NOT NULL, -- what its body is sealed under
  header text NOT NULL, -- canonical JSON: what is signed; no text of anybody
  signature bytea NOT NULL CHECK (length(signature) = 64),
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  position bigint NOT NULL, -- of its ledger entry
  data_subjects uuid[] NOT NULL,
  body bytea NOT NULL, -- what was said, with the salt of the header's commitment; '': forgotten
  said_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, negotiation_id, seq),
  FOREIGN KEY (workspace_id, negotiation_id) REFERENCES negotiation (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE negotiation_private ( -- what one side alone reads
  workspace_id uuid NOT NULL,
  negotiation_id uuid NOT NULL,
  id uuid NOT NULL,
  member_id uuid NOT NULL,
  seq integer NOT NULL, -- of the turn that it went into, or after which it was asked
  kind text NOT NULL CHECK (kind IN ('input', 'question')),
  data_subjects uuid[] NOT NULL,
  body bytea NOT NULL,
  asked_at timestamptz NOT NULL,
  answered_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, negotiation_id) REFERENCES negotiation (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX negotiation_private_of ON negotiation_private (workspace_id, negotiation_id, member_id);

CREATE TABLE negotiator ( -- agents that members bring
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  member_id uuid NOT NULL,
  agent text NOT NULL CHECK (length(agent) BETWEEN 1 AND 256),
  seen_at timestamptz, -- when it last asked for a turn
  takeover boolean NOT NULL DEFAULT true, -- the advocate answers where it does not
  public_key bytea CHECK (length(public_key) = 32),
  PRIMARY KEY (workspace_id, member_id, agent)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['negotiation', 'negotiation_turn', 'negotiation_private', 'negotiator'] LOOP
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

-- The two sides see a negotiation and its turns; what is private, its owner alone.
CREATE POLICY own_negotiation ON negotiation AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR (SELECT current_member()) IN (source_id, candidate_id));
CREATE POLICY own_negotiation ON negotiation_turn AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR EXISTS (SELECT 1 FROM negotiation n
    WHERE n.workspace_id = negotiation_turn.workspace_id AND n.id = negotiation_turn.negotiation_id));
CREATE POLICY own_private ON negotiation_private AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member()));
CREATE POLICY own_negotiator ON negotiator AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member()));
