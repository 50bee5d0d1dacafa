-- Roles, the settings of a transaction, workspaces and what each request needs before anything else:
-- keys, allowances, answers already given, messages to be sent. Run as the owner, which is no superuser
-- (Aurora's master is none).
-- depends:
-- squashes: 0044.allowances

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

-- Whose tags the transaction's reader finds: an agent's slug; '' for a key of no agent, which finds
-- untagged nodes only ('-' in the setting: no slug is that, and no tag is empty); null for an admin.
CREATE FUNCTION current_agent() RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CASE current_setting('cairn.agent', true)
    WHEN '' THEN NULL WHEN '-' THEN '' ELSE current_setting('cairn.agent', true) END;

CREATE FUNCTION sees_deleted() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('cairn.sees_deleted', true), '') = 'on';

CREATE TABLE workspace (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);

-- What workspaces have set: rows that follow from their `settings.changed` entries. `workspace.settings`
-- is what stood there before; it holds until the first change over the API, whose entry takes it over.
CREATE TABLE workspace_settings (
  workspace_id uuid PRIMARY KEY REFERENCES workspace (id),
  version bigint NOT NULL CHECK (version > 0), -- how often they were changed
  document jsonb NOT NULL, -- what was set, by section; defaults are not in it
  position bigint NOT NULL
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

-- A natural key (client, requester, person, source) and the random id the ledger knows it by.
-- A projection of encrypted bodies; forgetting erases the row.
CREATE TABLE data_subject (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('client', 'person', 'source')),
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
  topic text NOT NULL CHECK (topic ~ '^[a-z][a-z_]{0,31}$'),
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

-- Work before or across workspaces. Each returns ids and what its name says, nothing else.

-- Who holds an API key that is good now, and what is left in its bucket once this request took its
-- token: below zero, the request may not run. The bucket may be lost in a crash, so its commit does
-- not wait for the disk.
CREATE FUNCTION admit(
  key_prefix text, hash bytea, moment timestamptz, bucket double precision,
  per_second double precision
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], remaining double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  RETURN QUERY
    WITH good AS (
      SELECT k.workspace_id, p.id AS principal_id, k.id AS key_id, p.name, p.role, p.agent_slug,
        p.allowed_scopes, p.tools
        FROM api_key k
        JOIN principal p ON p.workspace_id = k.workspace_id AND p.id = k.principal_id
       WHERE k.prefix = key_prefix
         AND k.secret_hash = hash
         AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > moment)
    ), taken AS (
      INSERT INTO rate_limit AS held (workspace_id, key_id, tokens, refilled_at)
      SELECT good.workspace_id, good.key_id, bucket - 1, moment FROM good
      ON CONFLICT (workspace_id, key_id) DO UPDATE
        -- refilled by the time passed, less one; what a refused request leaves is below zero by
        -- as much as lacks to a whole token, and gets its token back here
        SET tokens = least(bucket, held.tokens + CASE WHEN held.tokens < 0 THEN 1 ELSE 0 END
              + greatest(0, extract(epoch FROM moment - held.refilled_at)) * per_second) - 1,
            refilled_at = greatest(held.refilled_at, moment)
      RETURNING held.tokens
    )
    SELECT good.*, taken.tokens FROM good, taken;
END
$$;

-- Who holds a key, what is left of its requests (as `admit` says, which the last release asks), and
-- whether the workspace may ask for so much: `asked` of each kind, of which `allowed` may be asked in
-- a minute. What is left of a kind may be overdrawn by one request; the next ones are `refused`, by
-- the number of the kind, until `seconds` have passed, and take nothing.
-- The buckets stand beside those of keys, each under the number of its kind for an id.
CREATE FUNCTION admit_request(
  key_prefix text, hash bytea, moment timestamptz, requests double precision,
  asked double precision[], allowed double precision[]
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], remaining double precision,
    refused integer, seconds double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  who record;
  kind record;
  short integer;
  wait double precision;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO who FROM admit(key_prefix, hash, moment, requests, requests / 60);
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF who.remaining >= 0 THEN
    SELECT level.number, (1 - level.tokens) * 60 / level.allowed INTO short, wait
      FROM (SELECT w.number, w.allowed, held.tokens
              + greatest(0, extract(epoch FROM moment - held.refilled_at)) * w.allowed / 60 AS tokens
              FROM unnest(asked, allowed) WITH ORDINALITY AS w(asked, allowed, number)
              JOIN rate_limit held ON held.workspace_id = who.workspace_id
                AND held.key_id = lpad(to_hex(w.number), 32, '0')::uuid
             WHERE w.asked > 0) AS level
     WHERE level.tokens <= 0
     ORDER BY 2 DESC LIMIT 1;
    IF short IS NULL THEN
      -- in the order of their numbers, so that two requests never wait for each other
      FOR kind IN
        SELECT w.asked, w.allowed, lpad(to_hex(w.number), 32, '0')::uuid AS id
          FROM unnest(asked, allowed) WITH ORDINALITY AS w(asked, allowed, number)
         WHERE w.asked > 0 ORDER BY w.number
      LOOP
        INSERT INTO rate_limit AS held (workspace_id, key_id, tokens, refilled_at)
        VALUES (who.workspace_id, kind.id, kind.allowed - kind.asked, moment)
        ON CONFLICT (workspace_id, key_id) DO UPDATE
          SET tokens = least(kind.allowed, held.tokens
                + greatest(0, extract(epoch FROM moment - held.refilled_at)) * kind.allowed / 60)
                - kind.asked,
              refilled_at = greatest(held.refilled_at, moment);
      END LOOP;
    END IF;
  END IF;
  RETURN QUERY SELECT who.workspace_id, who.principal_id, who.key_id, who.name, who.role,
    who.agent_slug, who.allowed_scopes, who.tools, who.remaining, short, wait;
END
$$;

CREATE FUNCTION list_workspaces() RETURNS TABLE (workspace_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT id FROM workspace ORDER BY id $$;

-- Rows of what the caller's process can send, never sent, or sent before `stale` and not finished (a
-- machine may take an hour longer): each is handed to one caller. What keeps failing comes back ever more
-- rarely, once a day in the end, so that it does not fill the dead letters; it never stops, so that
-- nothing is lost.
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

-- The oldest row that nobody took: never sent, or of a topic whose worker ends its row at once. Work
-- that failed says so itself, and what a machine is at has the machine's own time.
CREATE FUNCTION oldest_outbox_row(prompt text[]) RETURNS TABLE (topic text, created_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT o.topic, o.created_at FROM outbox o
   WHERE o.error IS NULL AND (o.sent_at IS NULL OR o.topic = ANY (prompt))
   ORDER BY o.created_at LIMIT 1
$$;

-- Spend a first-run token, once, within its time, on a new workspace with an empty chain.
-- Says claimed, used, expired or unknown.
CREATE FUNCTION claim_workspace(hash bytea, moment timestamptz, workspace uuid, workspace_name text)
  RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  token claim%ROWTYPE;
BEGIN
  SELECT * INTO token FROM claim WHERE token_hash = hash FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'unknown';
  ELSIF token.used_at IS NOT NULL THEN
    RETURN 'used';
  ELSIF token.expires_at <= moment THEN
    RETURN 'expired';
  END IF;
  UPDATE claim SET used_at = moment WHERE id = token.id;
  INSERT INTO workspace (id, name, created_at) VALUES (workspace, workspace_name, moment);
  INSERT INTO ledger_head (workspace_id, position, hash, recorded_at)
  VALUES (workspace, 0, sha256(uuid_send(workspace)), '1970-01-01 00:00:00+00');
  RETURN 'claimed';
END
$$;
