-- What requesters wrote to their tickets after the first text, each message once.
-- Operational, not a projection: every message is in the ledger. Texts are sealed.
-- depends: 0033.redaction-profiles

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

ALTER TABLE ticket_message ENABLE ROW LEVEL SECURITY;
ALTER TABLE ticket_message FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON ticket_message TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON ticket_message TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON ticket_message TO cairn_app, cairn_migrator;
