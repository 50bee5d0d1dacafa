-- Who a person is at an issuer outside: linked at their first sign-in by it.
-- depends: 0097.sources

CREATE TABLE person_identity (
  workspace_id uuid NOT NULL,
  person_id uuid NOT NULL,
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, person_id, issuer), -- somebody else with the same address is not them
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
-- who signs in names no workspace
CREATE UNIQUE INDEX person_identity_subject ON person_identity (issuer, subject);

ALTER TABLE person_identity ENABLE ROW LEVEL SECURITY;
ALTER TABLE person_identity FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON person_identity TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON person_identity TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON person_identity TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON person_identity TO cairn_migrator;
-- Nobody links somebody else: the sign-in itself does, which acts for no person.
CREATE POLICY by_nobody_else ON person_identity AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() = '');
CREATE POLICY by_nobody_else_removed ON person_identity AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() = '');

GRANT SELECT (workspace_id, person_id, issuer, subject) ON person_identity TO cairn_finder;
CREATE POLICY finder ON person_identity FOR SELECT TO cairn_finder USING (true);

CREATE FUNCTION workspace_of_identity(by_issuer text, wanted text)
  RETURNS TABLE (workspace_id uuid, person_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT i.workspace_id, i.person_id FROM person_identity i WHERE i.issuer = by_issuer AND i.subject = wanted
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION workspace_of_identity(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION workspace_of_identity(text, text) TO cairn_app;
ALTER FUNCTION workspace_of_identity(text, text) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
