-- Uploads and the documents made of them; what agents subscribe to, messages not yet in the graph, and
-- keys that see one conversation only.
-- depends: 0047.nodes
-- squashes: 0044.allowances

CREATE TABLE upload (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  principal_id uuid NOT NULL,
  size bigint NOT NULL CHECK (size > 0),
  media_type text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);

CREATE TABLE ingestion (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  document_id uuid NOT NULL,
  principal_id uuid NOT NULL,
  object_key text NOT NULL, -- where the bytes wait; removed when the ingestion ends
  -- accepted -> parsed -> chunked -> stored -> ready ; any -> failed
  status text NOT NULL CHECK (status IN ('accepted', 'parsed', 'chunked', 'stored', 'ready', 'failed')),
  counts jsonb NOT NULL DEFAULT '{}',
  error jsonb,
  execution text,
  position bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX ingestion_document ON ingestion (workspace_id, document_id, created_at);

CREATE TABLE subscription (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  agent_slug text NOT NULL CHECK (length(agent_slug) BETWEEN 1 AND 256),
  keywords text[] NOT NULL CHECK (cardinality(keywords) <= 5), -- casefolded; empty: cleared
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, agent_slug)
);

-- The first messages of a web chat, until its visitor writes a second time. Not a projection: they
-- have no entry yet. Bodies are sealed under the keys of their data subjects.
CREATE TABLE pending_message (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  identity text NOT NULL, -- of the conversation: audience, channel, session
  sequence integer NOT NULL,
  by_user boolean NOT NULL,
  data_subjects uuid[] NOT NULL,
  body bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, identity, sequence)
);
CREATE INDEX pending_message_expires_at ON pending_message (expires_at);

-- Which conversation a public key was made for. Without a row it sees none.
CREATE TABLE key_conversation (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  key_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, key_id)
);

-- The conversation of the public key this transaction is for; null for a key bound to none.
CREATE FUNCTION own_conversation() RETURNS uuid LANGUAGE sql STABLE
  RETURN (SELECT conversation_id FROM key_conversation
    WHERE workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
      AND key_id::text = current_setting('cairn.conversations', true));

-- Messages whose conversation never came about, of every workspace. Says how many there were.
CREATE FUNCTION drop_expired_messages(moment timestamptz) RETURNS bigint
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH gone AS (DELETE FROM pending_message WHERE expires_at <= moment RETURNING 1)
  SELECT count(*) FROM gone
$$;
