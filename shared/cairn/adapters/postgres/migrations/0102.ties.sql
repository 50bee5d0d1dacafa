-- Which member of networks a person who signs in is, and what they may append as that member.
-- depends: 0101.source-kinds

CREATE TABLE person_member (
  workspace_id uuid NOT NULL,
  person_id uuid NOT NULL,
  member_id uuid NOT NULL, -- the data subject that the client is
  client_id text NOT NULL CHECK (length(client_id) BETWEEN 1 AND 256),
  tied_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, person_id), -- nobody is two members
  FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX person_member_member ON person_member (workspace_id, member_id); -- nor two one member
ALTER TABLE person_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE person_member FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON person_member TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON person_member TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON person_member TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON person_member TO cairn_migrator;
GRANT SELECT ON person_member TO cairn_finder;
CREATE POLICY finder ON person_member FOR SELECT TO cairn_finder USING (true);

-- Who signed in and acts, where somebody does.
CREATE FUNCTION current_person_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT nullif(current_setting('cairn.person_id', true), '')::uuid $$;

-- Whether the transaction may act as a client: keys as whoever they say, a person as the member that
-- they are, or as one of their own, who is nobody else and whom they may become.
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
CREATE FUNCTION acts_as(client text) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT coalesce(current_person() = '' OR client = 'person-' || current_person_id()
    OR EXISTS (SELECT FROM person_member t WHERE t.workspace_id = current_workspace()
      AND t.person_id = current_person_id() AND t.client_id = client), false)
$$;
CREATE OR REPLACE FUNCTION current_member() RETURNS uuid
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT m.id FROM member m
   WHERE m.workspace_id = current_workspace() AND m.client_id = current_client()
     AND acts_as(m.client_id)
$$;
REVOKE ALL ON FUNCTION acts_as(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION acts_as(text) TO cairn_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

-- Owners tie people, admins where no owner is concerned, and somebody themselves to their own alone.
CREATE POLICY ties ON person_member AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK (current_person() = ''
    OR (person_id = current_person_id() AND client_id = 'person-' || person_id)
    OR (current_client() IS NULL AND (current_person() = 'owner' OR (current_person() = 'admin'
      AND EXISTS (SELECT FROM person p WHERE p.workspace_id = person_member.workspace_id
        AND p.id = person_id AND p.role <> 'owner')))));
CREATE POLICY unties ON person_member AS RESTRICTIVE FOR DELETE TO cairn_app
  USING (current_person() = ''
    OR (current_client() IS NULL AND (current_person() = 'owner' OR (current_person() = 'admin'
      AND EXISTS (SELECT FROM person p WHERE p.workspace_id = person_member.workspace_id
        AND p.id = person_id AND p.role <> 'owner')))));

-- As a member, everybody appends what members do and nothing else, whatever their role.
CREATE OR REPLACE FUNCTION person_may(entry_type text) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT CASE WHEN current_person() = '' THEN true
  WHEN current_client() IS NOT NULL THEN acts_as(current_client())
    AND (entry_type IN ('data_subject.registered', 'person.tied')
      OR split_part(entry_type, '.', 1) IN ('intent', 'premise', 'member', 'network', 'contact',
        'integration', 'opportunity', 'negotiation'))
  WHEN current_person() = 'owner' THEN true
  WHEN current_person() = 'admin' THEN entry_type NOT IN ('key.created', 'scim.token_made')
  WHEN current_person() = 'operator' THEN entry_type IN ('data_subject.registered',
      'subscription.changed')
    OR split_part(entry_type, '.', 1) IN ('memory', 'node', 'edge', 'entity', 'event', 'message',
      'conversation', 'document', 'report', 'task', 'ticket', 'investigation', 'action', 'approval',
      'escalation', 'resolution', 'intent', 'premise', 'member', 'network', 'contact',
      'integration', 'opportunity', 'negotiation', 'workflow', 'handoff', 'publication')
      AND entry_type NOT IN ('workflow.changed', 'escalation.channel_added',
        'escalation.channel_removed')
  WHEN current_person() = 'reviewer' THEN entry_type IN ('data_subject.registered',
    'memory.corrected', 'memory.pinned', 'memory.withheld', 'memory.released')
  ELSE false
END $$;
