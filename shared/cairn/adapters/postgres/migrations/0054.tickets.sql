-- Tickets, where they come from, what was written back, and the personas that work on them.
-- Operational, not projections: what came in and went out is in the ledger. Texts are sealed; what
-- stands in clear is ids, states, ranks and times.
-- depends: 0053.investigations
-- squashes: 0044.allowances

CREATE TABLE ticket (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  source text NOT NULL CHECK (length(source) <= 64),
  external_id text NOT NULL CHECK (length(external_id) <= 200), -- the source's own
  -- new -> queued | discarded ; queued -> investigating ; investigating -> an end, or queued again ;
  -- an end or discarded -> queued when somebody puts it back
  status text NOT NULL CHECK (status IN ('new', 'queued', 'investigating', 'auto_resolved',
    'needs_tech', 'needs_client', 'needs_l2', 'failed', 'discarded')),
  rank smallint NOT NULL CHECK (rank BETWEEN 0 AND 3), -- 0 low to 3 critical
  persona text NOT NULL,
  sealed bytea NOT NULL, -- what it says, under the keys of whom it is about
  mark bytea NOT NULL, -- of what it says: HMAC under a key that is not in the database
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  position bigint NOT NULL, -- of the entry that says what it says
  received_at timestamptz NOT NULL,
  modified_at timestamptz, -- by the source's clock
  sla_at timestamptz,
  queued_at timestamptz,
  claimed_at timestamptz,
  ended_at timestamptz,
  investigation_id uuid, -- the last one that took it
  waits_for text, -- what has to be mended: connector:<name> or source:<name>
  screening jsonb NOT NULL DEFAULT '{}', -- labels, no texts
  PRIMARY KEY (workspace_id, id)
);
-- one ticket for each of a source
CREATE UNIQUE INDEX ticket_external_id ON ticket (workspace_id, source, external_id);
-- the queue; those of personas that are off are passed over in it
CREATE INDEX ticket_queue ON ticket (workspace_id, rank DESC, received_at, id) INCLUDE (persona)
  WHERE status = 'queued';
CREATE INDEX ticket_new ON ticket (workspace_id, received_at) WHERE status = 'new';
CREATE INDEX ticket_status ON ticket (workspace_id, status, id);
CREATE INDEX ticket_received_at ON ticket (workspace_id, received_at);
CREATE INDEX ticket_ended_at ON ticket (workspace_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX ticket_waits_for ON ticket (workspace_id, waits_for) WHERE waits_for IS NOT NULL;

CREATE TABLE ticket_source (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) <= 64),
  kind text NOT NULL CHECK (kind IN ('zoho-desk', 'github-issues')),
  config jsonb NOT NULL,
  secrets bytea NOT NULL, -- sealed under the workspace's own key
  persona text NOT NULL,
  -- active <-> needs-auth (the help desk refuses the keys; new ones mend it) ; active <-> paused
  state text NOT NULL CHECK (state IN ('active', 'needs-auth', 'paused')),
  poll_seconds integer NOT NULL CHECK (poll_seconds >= 60),
  cursor text, -- the adapter's own
  created_at timestamptz NOT NULL,
  polled_at timestamptz,
  next_poll_at timestamptz NOT NULL,
  failures integer NOT NULL DEFAULT 0, -- in a row
  error text, -- why the last poll failed: a code
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, name)
);
CREATE UNIQUE INDEX ticket_source_id ON ticket_source (id); -- webhooks name nothing else
CREATE INDEX ticket_source_due ON ticket_source (next_poll_at) WHERE state = 'active';

-- Webhook deliveries that were taken, so that one that comes again does nothing.
CREATE TABLE ticket_delivery (
  workspace_id uuid NOT NULL,
  source_id uuid NOT NULL,
  delivery_id text NOT NULL CHECK (length(delivery_id) <= 200),
  received_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, source_id, delivery_id),
  FOREIGN KEY (workspace_id, source_id) REFERENCES ticket_source (workspace_id, id)
    ON DELETE CASCADE
);
CREATE INDEX ticket_delivery_received_at ON ticket_delivery (workspace_id, source_id, received_at);

-- What was sent to a source for an investigation: begun before it is sent, done when it stands there.
CREATE TABLE ticket_write_back (
  workspace_id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  part text NOT NULL CHECK (part IN ('reply', 'status', 'time', 'note')),
  ticket_id uuid NOT NULL,
  done boolean NOT NULL DEFAULT false,
  reference text, -- what the source calls it
  begun_at timestamptz NOT NULL,
  leased_until timestamptz NOT NULL, -- whoever began it sends it until then, and nobody else
  done_at timestamptz,
  PRIMARY KEY (workspace_id, investigation_id, part)
);
CREATE INDEX ticket_write_back_of ON ticket_write_back (workspace_id, ticket_id);

CREATE TABLE ticket_reply (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  investigation_id uuid NOT NULL,
  private boolean NOT NULL,
  sealed bytea NOT NULL,
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX ticket_reply_of ON ticket_reply (workspace_id, ticket_id, id);

-- What requesters wrote to their tickets after the first text, each message once.
CREATE TABLE ticket_message (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  external_id text NOT NULL CHECK (length(external_id) <= 200), -- the source's own
  sealed bytea NOT NULL,
  data_subjects uuid[] NOT NULL DEFAULT '{}',
  position bigint NOT NULL, -- of the entry that says what it says
  written_at timestamptz NOT NULL, -- by the source's clock
  received_at timestamptz NOT NULL,
  -- it put its ticket back to be worked on; they are counted from anew when somebody requeues it
  reopened boolean NOT NULL DEFAULT false,
  small_talk boolean NOT NULL DEFAULT false, -- thanks and the like: nothing is asked
  PRIMARY KEY (workspace_id, id)
);
-- one message for each of a ticket's source
CREATE UNIQUE INDEX ticket_message_external_id
  ON ticket_message (workspace_id, ticket_id, external_id);
CREATE INDEX ticket_message_of ON ticket_message (workspace_id, ticket_id, written_at DESC, id DESC);

-- How agents work for one kind of ticket; versions are never changed.
CREATE TABLE persona (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  name text NOT NULL CHECK (length(name) <= 64),
  version integer NOT NULL CHECK (version > 0),
  id uuid NOT NULL, -- of the persona, over all its versions; what the ledger calls it
  instructions text NOT NULL,
  escalation text NOT NULL,
  autonomy text NOT NULL CHECK (autonomy IN ('off', 'investigate', 'propose', 'act')),
  max_tokens bigint NOT NULL,
  max_usd numeric NOT NULL,
  max_seconds integer NOT NULL,
  max_iterations integer NOT NULL,
  redaction text NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by uuid NOT NULL,
  present boolean NOT NULL, -- the newest, unless it was removed
  removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (workspace_id, name, version)
);
CREATE UNIQUE INDEX persona_present ON persona (workspace_id, name) WHERE present;

-- Whose a source is: a webhook comes without a key of ours.
CREATE FUNCTION workspace_of_source(source uuid) RETURNS uuid
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT s.workspace_id FROM ticket_source s WHERE s.id = source
$$;

-- The sources of every workspace that are to be polled, the longest waiting first.
CREATE FUNCTION sources_due(at timestamptz, most integer)
  RETURNS TABLE (workspace_id uuid, id uuid)
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT s.workspace_id, s.id FROM ticket_source s
   WHERE s.state = 'active' AND s.next_poll_at <= at ORDER BY s.next_poll_at LIMIT most
$$;

-- The workspaces in which tickets wait.
CREATE FUNCTION workspaces_with_tickets() RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT DISTINCT t.workspace_id FROM ticket t WHERE t.status IN ('new', 'queued')
$$;
