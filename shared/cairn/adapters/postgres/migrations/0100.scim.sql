-- Directories that bring people and groups by SCIM: their tokens, whom they keep, groups with a role.
-- depends: 0099.help-desk-kinds

CREATE TABLE scim_token (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
  token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  used_at timestamptz, -- to the minute
  PRIMARY KEY (workspace_id, id)
);
-- who asks names no workspace
CREATE UNIQUE INDEX scim_token_hash ON scim_token (token_hash);

CREATE TABLE scim_user (
  workspace_id uuid NOT NULL,
  person_id uuid NOT NULL,
  external_id text CHECK (length(external_id) BETWEEN 1 AND 256), -- what the directory calls them
  removed_at timestamptz, -- the directory deleted them; it sees them no more until it adds them anew
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, person_id),
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE scim_group (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
  external_id text CHECK (length(external_id) BETWEEN 1 AND 256),
  role text CHECK (role IN ('owner', 'admin', 'operator', 'reviewer', 'reader')), -- null: it gives none
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX scim_group_name ON scim_group (workspace_id, lower(name));

CREATE TABLE scim_member (
  workspace_id uuid NOT NULL,
  group_id uuid NOT NULL,
  person_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, group_id, person_id),
  FOREIGN KEY (workspace_id, group_id) REFERENCES scim_group (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX scim_member_person ON scim_member (workspace_id, person_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['scim_token', 'scim_user', 'scim_group', 'scim_member'] LOOP
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
-- A token may make owners, so only owners make one; revoking it is an admin's, too.
CREATE POLICY by_owners ON scim_token AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() IN ('', 'owner'));
CREATE POLICY by_admins ON scim_token AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() IN ('', 'owner', 'admin'));
CREATE POLICY by_nobody_else ON scim_token AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING (current_person() = '');
-- Only owners decide which groups make owners; who is in a group the directory says alone.
CREATE POLICY role_insert ON scim_group AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() = '');
CREATE POLICY role_update ON scim_group AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND role IS DISTINCT FROM 'owner'))
  WITH CHECK (current_person() IN ('', 'owner') OR (current_person() = 'admin' AND role IS DISTINCT FROM 'owner'));
CREATE POLICY role_delete ON scim_group AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() = '');
CREATE POLICY by_directories ON scim_member AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() = '');
CREATE POLICY by_directories_removed ON scim_member AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() = '');
CREATE POLICY by_directories ON scim_user AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() = '');
CREATE POLICY by_directories_changed ON scim_user AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING (current_person() = '');

GRANT SELECT (workspace_id, id, token_hash, expires_at, used_at) ON scim_token TO cairn_finder;
CREATE POLICY finder ON scim_token FOR SELECT TO cairn_finder USING (true);

-- Whose a directory's token is that is good now.
CREATE FUNCTION admit_scim(wanted bytea, moment timestamptz)
  RETURNS TABLE (workspace_id uuid, id uuid, used_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT t.workspace_id, t.id, t.used_at FROM scim_token t
 WHERE t.token_hash = wanted AND (t.expires_at IS NULL OR t.expires_at > moment)
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION admit_scim(bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admit_scim(bytea, timestamptz) TO cairn_app;
ALTER FUNCTION admit_scim(bytea, timestamptz) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

-- No admin makes a directory's token.
CREATE OR REPLACE FUNCTION person_may(entry_type text) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT CASE current_person()
  WHEN '' THEN true
  WHEN 'owner' THEN true
  WHEN 'admin' THEN entry_type NOT IN ('key.created', 'scim.token_made')
  WHEN 'operator' THEN entry_type IN ('data_subject.registered', 'subscription.changed')
    OR split_part(entry_type, '.', 1) IN ('memory', 'node', 'edge', 'entity', 'event', 'message',
      'conversation', 'document', 'report', 'task', 'ticket', 'investigation', 'action', 'approval',
      'escalation', 'resolution', 'intent', 'premise', 'member', 'network', 'contact',
      'integration', 'opportunity', 'negotiation', 'workflow', 'handoff', 'publication')
      AND entry_type NOT IN ('workflow.changed', 'escalation.channel_added',
        'escalation.channel_removed')
  WHEN 'reviewer' THEN entry_type IN ('data_subject.registered', 'memory.corrected', 'memory.pinned',
    'memory.withheld', 'memory.released')
  ELSE false
END $$;
