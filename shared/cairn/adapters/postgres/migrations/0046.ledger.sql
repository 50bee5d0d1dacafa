-- The ledger: one hash chain a workspace, append only.
-- depends: 0045.workspaces
-- squashes: 0044.allowances

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

-- The head goes forward by what was appended, and nothing is appended that it leaves out. For the
-- application's role only: an owner can take triggers away, and imports a chain as it is. The names are
-- looked up in public first, so that no temporary table stands in for the ledger.
CREATE FUNCTION refuse_head() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  appended bigint;
  chained bigint;
  ends boolean;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE e.prev_hash = e.before),
         bool_or(e.position = NEW.position AND e.hash = NEW.hash AND e.recorded_at = NEW.recorded_at)
    INTO appended, chained, ends
    FROM (SELECT l.position, l.hash, l.prev_hash, l.recorded_at,
                 lag(l.hash, 1, OLD.hash) OVER (ORDER BY l.position) AS before
            FROM ledger l
           WHERE l.workspace_id = OLD.workspace_id
             AND l.position > OLD.position AND l.position <= NEW.position) AS e;
  IF NEW.workspace_id <> OLD.workspace_id OR appended = 0 OR NOT ends
    OR appended <> NEW.position - OLD.position OR chained <> appended THEN
    RAISE EXCEPTION 'the head of a ledger goes forward by what was appended'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER head_goes_forward BEFORE UPDATE ON ledger_head FOR EACH ROW
  WHEN (current_user = 'cairn_app') EXECUTE FUNCTION refuse_head();

-- At commit: an entry past the head would stand in the way of every later one.
CREATE FUNCTION refuse_beyond_head() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM ledger_head h
    WHERE h.workspace_id = NEW.workspace_id AND h.position >= NEW.position) THEN
    RAISE EXCEPTION 'an entry was appended and the head was not moved'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER ledger_ends_at_its_head AFTER INSERT ON ledger
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (current_user = 'cairn_app') EXECUTE FUNCTION refuse_beyond_head();
