-- Roles, tenants and the way in. Run as the owner, which is no superuser (Aurora's master is none).
-- depends:

-- cairn_app: what the functions connect as; owns nothing. cairn_finder: owns the candidate
-- functions and reads ids, guards and index columns only. cairn_migrator: data-changing migrations.
DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['cairn_app', 'cairn_finder', 'cairn_migrator'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = wanted) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- another database of this cluster is being migrated at this moment
    END;
  END LOOP;
  ALTER ROLE cairn_app LOGIN;
  EXECUTE format('GRANT cairn_finder TO %I WITH SET TRUE, INHERIT FALSE', current_user);
  EXECUTE format('GRANT cairn_migrator TO %I WITH SET TRUE, INHERIT FALSE', current_user);
END
$$;

GRANT USAGE ON SCHEMA public TO cairn_app, cairn_finder, cairn_migrator;

CREATE EXTENSION IF NOT EXISTS vector;

-- The tenancy settings of the running transaction. '' is what a reused connection returns.
CREATE FUNCTION current_workspace() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('cairn.workspace_id', true), '')::uuid;

CREATE FUNCTION current_scopes() RETURNS text[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN string_to_array(nullif(current_setting('cairn.scopes', true), ''), ',');

CREATE FUNCTION current_agent() RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('cairn.agent', true), '');

CREATE FUNCTION sees_deleted() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('cairn.sees_deleted', true), '') = 'on';

CREATE TABLE workspace (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);

CREATE TABLE principal (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  role text NOT NULL CHECK (role IN ('admin', 'agent', 'public')),
  agent_slug text CHECK (agent_slug ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  allowed_scopes text[] NOT NULL
    CHECK (allowed_scopes <@ ARRAY['public', 'shared', 'admin'] AND cardinality(allowed_scopes) > 0),
  tools text[],
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CHECK (role <> 'public' OR agent_slug IS NOT NULL)
);

CREATE TABLE api_key (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  principal_id uuid NOT NULL,
  prefix text NOT NULL UNIQUE,
  secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32), -- SHA-256 of 256 random bits
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, principal_id) REFERENCES principal (workspace_id, id)
);

CREATE TABLE claim (
  id uuid PRIMARY KEY,
  token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

-- Buckets of tokens a key; lost in a crash on purpose.
CREATE UNLOGGED TABLE rate_limit (
  workspace_id uuid NOT NULL,
  key_id uuid NOT NULL,
  tokens double precision NOT NULL,
  refilled_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, key_id)
);

CREATE TABLE idempotency (
  workspace_id uuid NOT NULL,
  principal_id uuid NOT NULL,
  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  body_hash bytea NOT NULL,
  status smallint NOT NULL,
  answer jsonb NOT NULL, -- ids, positions and outcomes; never texts
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, principal_id, key)
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);

-- A natural key (client, requester, person) and the random id the ledger knows it by.
-- A projection of encrypted bodies; forgetting erases the row.
CREATE TABLE data_subject (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('client', 'person')),
  natural_key text NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, kind, natural_key)
);

-- Messages still to be sent and work still to be finished: a row lives until the stage it wakes
-- has done its part, so that a lost message is seen and sent again.
CREATE TABLE outbox (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  topic text NOT NULL CHECK (topic IN ('embed', 'ingestion')),
  node_ids uuid[] NOT NULL DEFAULT '{}',
  reference uuid, -- the ingestion it belongs to
  batch integer, -- which batch of that ingestion's nodes
  position bigint NOT NULL,
  created_at timestamptz NOT NULL,
  sent_at timestamptz, -- null: never sent
  attempts smallint NOT NULL DEFAULT 0,
  error text,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX outbox_created_at ON outbox (created_at);
CREATE UNIQUE INDEX outbox_batch ON outbox (workspace_id, reference, batch) WHERE batch IS NOT NULL;

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
