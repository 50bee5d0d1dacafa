-- People who sign in to the console: who they are, their one-time links and their sessions; and what
-- each role may append to the ledger, without which nothing here changes.
-- depends: 0083.knowledge

CREATE TABLE person (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  login text COLLATE "C" NOT NULL CHECK (login = lower(login) AND length(login) BETWEEN 1 AND 254),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'operator', 'reviewer', 'reader')),
  password_hash text,
  failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  locked_until timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  disabled_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
-- who signs in names no workspace
CREATE UNIQUE INDEX person_login ON person (login);

CREATE TABLE person_link (
  workspace_id uuid NOT NULL,
  token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
  person_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, person_id), -- a new one takes the place of the one before
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX person_link_token ON person_link (token_hash);

CREATE TABLE person_session (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  person_id uuid NOT NULL,
  token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
  token_before bytea, -- of the token that this one took the place of
  csrf text NOT NULL,
  rotate boolean NOT NULL DEFAULT false, -- the person's rights changed: a new token with the next answer
  by_link boolean NOT NULL DEFAULT false, -- a one-time link opened it: it may set a new password
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX person_session_token ON person_session (token_hash);
CREATE UNIQUE INDEX person_session_before ON person_session (token_before) WHERE token_before IS NOT NULL;
CREATE INDEX person_session_person ON person_session (workspace_id, person_id);

-- Who acts: '' for keys and for Cairn itself, else a person's role.
CREATE FUNCTION current_person() RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT coalesce(current_setting('cairn.person', true), '') $$;

-- Lists of what is allowed: a type of entry that is not on them is for owners and admins. An admin makes
-- no keys: one of the role admin could make an owner.
CREATE FUNCTION person_may(entry_type text) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT CASE current_person()
  WHEN '' THEN true
  WHEN 'owner' THEN true
  WHEN 'admin' THEN entry_type <> 'key.created'
  WHEN 'operator' THEN entry_type = 'data_subject.registered'
    OR split_part(entry_type, '.', 1) IN ('memory', 'node', 'edge', 'entity', 'event', 'message',
      'conversation', 'document', 'report', 'task', 'ticket', 'investigation', 'action', 'approval',
      'escalation', 'resolution')
  WHEN 'reviewer' THEN entry_type IN ('data_subject.registered', 'memory.corrected', 'memory.pinned',
    'memory.withheld', 'memory.released')
  ELSE false
END $$;
CREATE POLICY person ON ledger AS RESTRICTIVE FOR INSERT TO cairn_app WITH CHECK (person_may(type));

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['person', 'person_link', 'person_session'] LOOP
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
-- Only owners, and admins where no owner is concerned, change who signs in as what.
CREATE POLICY role_insert ON person AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND role <> 'owner'));
CREATE POLICY role_update ON person AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND role <> 'owner'))
  WITH CHECK (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND role <> 'owner'));
CREATE POLICY role_delete ON person AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND role <> 'owner'));
CREATE POLICY of_no_owner ON person_link AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND EXISTS (
    SELECT FROM person p WHERE p.workspace_id = person_link.workspace_id AND p.id = person_id
      AND p.role <> 'owner')));

-- Before a workspace is known: a name, a link and a session lead to theirs.
GRANT SELECT (workspace_id, id, login, name, role, disabled_at) ON person TO cairn_finder;
GRANT SELECT (workspace_id, token_hash) ON person_link TO cairn_finder;
GRANT SELECT ON person_session TO cairn_finder;
CREATE POLICY finder ON person FOR SELECT TO cairn_finder USING (true);
CREATE POLICY finder ON person_link FOR SELECT TO cairn_finder USING (true);
CREATE POLICY finder ON person_session FOR SELECT TO cairn_finder USING (true);

CREATE FUNCTION workspace_of_login(wanted text) RETURNS TABLE (workspace_id uuid, person_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT p.workspace_id, p.id FROM person p WHERE p.login = wanted $$;

CREATE FUNCTION workspace_of_link(wanted bytea) RETURNS uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT l.workspace_id FROM person_link l WHERE l.token_hash = wanted $$;

CREATE FUNCTION admit_session(wanted bytea, moment timestamptz, idle interval)
  RETURNS TABLE (workspace_id uuid, person_id uuid, session_id uuid, login text, name text, role text,
    csrf text, present boolean, rotate boolean, by_link boolean, seen_at timestamptz, token_hash bytea)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT s.workspace_id, s.person_id, s.id, p.login, p.name, p.role, s.csrf, s.token_hash = wanted,
    s.rotate, s.by_link, s.seen_at, s.token_hash
  FROM person_session s
  JOIN person p ON p.workspace_id = s.workspace_id AND p.id = s.person_id
 WHERE (s.token_hash = wanted OR s.token_before = wanted)
   AND s.expires_at > moment AND s.seen_at > moment - idle AND p.disabled_at IS NULL
$$;

GRANT CREATE ON SCHEMA public TO cairn_finder;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspace_of_login(text)', 'workspace_of_link(bytea)',
    'admit_session(bytea, timestamptz, interval)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', name);
    EXECUTE format('ALTER FUNCTION %s OWNER TO cairn_finder', name);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
