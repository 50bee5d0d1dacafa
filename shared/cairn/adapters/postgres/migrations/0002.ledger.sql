-- The ledger: one hash chain a workspace, append only.
-- depends: 0001.roles-and-tenants

CREATE TABLE ledger (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  position bigint NOT NULL CHECK (position > 0),
  id uuid NOT NULL,
  type text NOT NULL CHECK (type ~ '^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$'),
  actor_kind text NOT NULL CHECK (actor_kind IN ('agent', 'user', 'system')),
  actor_id text NOT NULL,
  session_id text,
  trace_id text,
  parent_id uuid,
  data_subjects uuid[] NOT NULL,
  occurred_at timestamptz NOT NULL, -- world
  recorded_at timestamptz NOT NULL, -- ours, never decreasing along a chain
  meta text NOT NULL, -- the exact canonical bytes; jsonb would rewrite them
  body bytea NOT NULL, -- ciphertext
  prev_hash bytea NOT NULL CHECK (length(prev_hash) = 32),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (workspace_id, position),
  UNIQUE (workspace_id, id)
);
CREATE INDEX ledger_recorded_at ON ledger (workspace_id, recorded_at, position);
CREATE INDEX ledger_type ON ledger (workspace_id, type, position);

CREATE TABLE ledger_head (
  workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
  position bigint NOT NULL CHECK (position >= 0),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  recorded_at timestamptz NOT NULL
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: % refused', tg_op USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER ledger_is_append_only BEFORE UPDATE OR DELETE ON ledger
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_is_never_truncated BEFORE TRUNCATE ON ledger
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
