-- Passkeys of people (WebAuthn), and what a browser that is signing in has to bring back once.
-- depends: 0090.widget

CREATE TABLE person_passkey (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  person_id uuid NOT NULL,
  credential_id bytea NOT NULL CHECK (length(credential_id) BETWEEN 1 AND 1023),
  public_key bytea NOT NULL,
  sign_count bigint NOT NULL CHECK (sign_count >= 0), -- 0 for ever where the authenticator counts nothing
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
  created_at timestamptz NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
-- who signs in names no workspace
CREATE UNIQUE INDEX person_passkey_credential ON person_passkey (credential_id);
CREATE INDEX person_passkey_person ON person_passkey (workspace_id, person_id);

ALTER TABLE person_passkey ENABLE ROW LEVEL SECURITY;
ALTER TABLE person_passkey FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON person_passkey TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON person_passkey TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON person_passkey TO cairn_app, cairn_migrator;
-- Nobody adds one for somebody else: the sign-in itself does, which acts for no person.
CREATE POLICY by_nobody_else ON person_passkey AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() = '');
CREATE POLICY by_nobody_else_changed ON person_passkey AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING (current_person() = '');
CREATE POLICY by_nobody_else_removed ON person_passkey AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() = '');

GRANT SELECT (workspace_id, person_id, credential_id) ON person_passkey TO cairn_finder;
CREATE POLICY finder ON person_passkey FOR SELECT TO cairn_finder USING (true);

-- What a sign-in under way is held to, under no workspace: nobody knows yet who it will be. The id is of
-- the hash of a token that only the browser has. The functions read it by the two functions below alone.
CREATE TABLE sign_in_attempt (
  id uuid PRIMARY KEY,
  purpose text NOT NULL,
  body text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempt_expires ON sign_in_attempt (expires_at);
ALTER TABLE sign_in_attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in_attempt FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON sign_in_attempt TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY finder ON sign_in_attempt TO cairn_finder USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in_attempt TO cairn_migrator;
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in_attempt TO cairn_finder; -- UPDATE to lock rows

CREATE FUNCTION workspace_of_passkey(wanted bytea) RETURNS TABLE (workspace_id uuid, person_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT p.workspace_id, p.person_id FROM person_passkey p WHERE p.credential_id = wanted $$;

CREATE FUNCTION begin_sign_in(attempt uuid, for_what text, content text, moment timestamptz,
    ends timestamptz)
  RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  DELETE FROM sign_in_attempt WHERE ctid = ANY (ARRAY(
    SELECT a.ctid FROM sign_in_attempt a WHERE a.expires_at <= moment LIMIT 10 FOR UPDATE SKIP LOCKED));
  INSERT INTO sign_in_attempt (id, purpose, body, expires_at) VALUES (attempt, for_what, content, ends);
END
$$;

CREATE FUNCTION take_sign_in(attempt uuid, for_what text, moment timestamptz) RETURNS text
  LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
DELETE FROM sign_in_attempt a WHERE a.id = attempt AND a.purpose = for_what AND a.expires_at > moment
RETURNING a.body
$$;

GRANT CREATE ON SCHEMA public TO cairn_finder;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspace_of_passkey(bytea)', 'take_sign_in(uuid, text, timestamptz)',
    'begin_sign_in(uuid, text, text, timestamptz, timestamptz)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', name);
    EXECUTE format('ALTER FUNCTION %s OWNER TO cairn_finder', name);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
