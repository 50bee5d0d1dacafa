-- Discovery: members, their networks, what they seek and offer, and the meetings that were found.
-- Texts of members and intents are nodes; here is who shares what with whom.
-- depends: 0077.workflows

CREATE TABLE member (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL, -- the data subject that the client is
  client_id text NOT NULL CHECK (length(client_id) BETWEEN 1 AND 256),
  ghost boolean NOT NULL DEFAULT false, -- named by somebody else, never here themselves
  since timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX member_client ON member (workspace_id, client_id);

CREATE TABLE network (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  prompt text NOT NULL DEFAULT '' CHECK (length(prompt) <= 4000), -- what belongs here; '': everything
  join_policy text NOT NULL DEFAULT 'invite_only' CHECK (join_policy IN ('anyone', 'invite_only')),
  owner_id uuid, -- a member; null: the workspace's admins
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  removed_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);

CREATE TABLE network_member (
  workspace_id uuid NOT NULL,
  network_id uuid NOT NULL,
  member_id uuid NOT NULL,
  role text NOT NULL DEFAULT 'member' CHECK (role IN ('owner', 'member')),
  prompt text NOT NULL DEFAULT '' CHECK (length(prompt) <= 4000), -- what of theirs belongs here
  joined_at timestamptz NOT NULL,
  left_at timestamptz CHECK (left_at >= joined_at), -- null: is one
  judge_since timestamptz, -- since when their intents are to be judged anew for it; null: they were
  PRIMARY KEY (workspace_id, network_id, member_id, joined_at),
  FOREIGN KEY (workspace_id, network_id) REFERENCES network (workspace_id, id)
);
CREATE UNIQUE INDEX network_member_present ON network_member (workspace_id, network_id, member_id)
  WHERE left_at IS NULL;
CREATE INDEX network_member_to_judge ON network_member (workspace_id, network_id, judge_since, member_id)
  WHERE judge_since IS NOT NULL AND left_at IS NULL;
CREATE INDEX network_member_of ON network_member (workspace_id, member_id) WHERE left_at IS NULL;

CREATE TABLE network_invite ( -- a link that lets one person in, once
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  network_id uuid NOT NULL,
  token_hash bytea NOT NULL CHECK (length(token_hash) = 32),
  made_by uuid, -- a member; null: an admin
  ghost_id uuid, -- the member it is meant for, who is not here yet
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  used_at timestamptz,
  used_by uuid,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, network_id) REFERENCES network (workspace_id, id)
);
CREATE UNIQUE INDEX network_invite_token ON network_invite (workspace_id, token_hash);
CREATE INDEX network_invite_of ON network_invite (workspace_id, network_id, created_at DESC);

CREATE TABLE intent (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL, -- its node's
  member_id uuid NOT NULL,
  side text NOT NULL CHECK (side IN ('seeking', 'offering', 'both')),
  state text NOT NULL CHECK (state IN ('active', 'paused', 'expired', 'archived')),
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  expires_at timestamptz,
  discovered_at timestamptz, -- when it was last looked for
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX intent_of ON intent (workspace_id, member_id, state);
CREATE INDEX intent_expires ON intent (workspace_id, expires_at) WHERE state IN ('active', 'paused');

CREATE TABLE intent_network (
  workspace_id uuid NOT NULL,
  network_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  member_id uuid NOT NULL, -- whose intent it is
  score double precision NOT NULL CHECK (score BETWEEN 0 AND 1), -- how far it belongs here
  direct boolean NOT NULL, -- assigned, not judged
  assigned_at timestamptz NOT NULL,
  removed_at timestamptz,
  PRIMARY KEY (workspace_id, network_id, intent_id, assigned_at)
);
CREATE UNIQUE INDEX intent_network_present ON intent_network (workspace_id, network_id, intent_id)
  WHERE removed_at IS NULL;
CREATE INDEX intent_network_of ON intent_network (workspace_id, intent_id) WHERE removed_at IS NULL;

CREATE TABLE opportunity (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  pair text NOT NULL, -- both people and both intents, in one order: there is one of each
  network_id uuid NOT NULL,
  source_id uuid NOT NULL, -- the member who looked
  target_id uuid NOT NULL CHECK (target_id <> source_id),
  introducer_id uuid, -- a third one who proposed it
  source_intent uuid,
  target_intent uuid,
  source_role text NOT NULL CHECK (source_role IN ('agent', 'patient', 'peer')),
  target_role text NOT NULL CHECK (target_role IN ('agent', 'patient', 'peer')),
  score smallint NOT NULL CHECK (score BETWEEN 0 AND 100),
  trigger text NOT NULL CHECK (trigger IN ('ambient', 'orchestrator', 'introducer', 'caller')),
  state text NOT NULL CHECK (state IN
    ('latent', 'negotiating', 'draft', 'pending', 'accepted', 'rejected', 'stalled', 'expired')),
  data_subjects uuid[] NOT NULL, -- whose keys seal the body
  body bytea NOT NULL, -- the reason and the card
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX opportunity_pair ON opportunity (workspace_id, pair);
CREATE INDEX opportunity_source ON opportunity (workspace_id, source_id, state, changed_at DESC);
CREATE INDEX opportunity_target ON opportunity (workspace_id, target_id, state, changed_at DESC);
CREATE INDEX opportunity_shown ON opportunity (workspace_id, target_id, created_at);
CREATE INDEX opportunity_open ON opportunity (workspace_id, expires_at)
  WHERE state NOT IN ('accepted', 'rejected', 'expired');

CREATE TABLE opportunity_change ( -- each state that it had, so that the past can be asked for
  workspace_id uuid NOT NULL,
  opportunity_id uuid NOT NULL,
  seq integer NOT NULL CHECK (seq > 0),
  state text NOT NULL,
  actor uuid, -- the member who made it so; null: Cairn
  position bigint NOT NULL, -- of its ledger entry
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, opportunity_id, seq),
  FOREIGN KEY (workspace_id, opportunity_id) REFERENCES opportunity (workspace_id, id) ON DELETE CASCADE
);

-- Who the running transaction is confined to as a member, and the networks that they are in. Read past
-- the policies below, which ask them.
GRANT SELECT ON member, network, network_member, network_invite, intent, intent_network TO cairn_finder;
GRANT UPDATE (used_at, used_by) ON network_invite TO cairn_finder;
GRANT DELETE ON member TO cairn_finder;
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
CREATE FUNCTION current_member() RETURNS uuid
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT m.id FROM member m
   WHERE m.workspace_id = current_workspace() AND m.client_id = current_client()
$$;
CREATE FUNCTION member_networks() RETURNS uuid[]
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT coalesce(array_agg(nm.network_id), '{}') FROM network_member nm
   WHERE nm.workspace_id = current_workspace() AND nm.member_id = current_member() AND nm.left_at IS NULL
$$;
CREATE FUNCTION owned_networks() RETURNS uuid[]
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT coalesce(array_agg(n.id), '{}') FROM network n
   WHERE n.workspace_id = current_workspace() AND n.owner_id = current_member()
$$;
-- Whether the member that the transaction is confined to may be in a network as a new one.
CREATE FUNCTION may_join(joined uuid) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT EXISTS (SELECT 1 FROM network n
   WHERE n.workspace_id = current_workspace() AND n.id = joined AND n.removed_at IS NULL
     AND (n.join_policy = 'anyone' OR n.owner_id = current_member()
       OR EXISTS (SELECT 1 FROM network_invite i
         WHERE i.workspace_id = n.workspace_id AND i.network_id = n.id AND i.used_by = current_member()
           AND NOT EXISTS (SELECT 1 FROM network_member nm
             WHERE nm.workspace_id = n.workspace_id AND nm.network_id = n.id
               AND nm.member_id = i.used_by AND nm.joined_at >= i.used_at))))
$$;
-- Take an invite by the hash of its token: the member that the transaction is confined to, or for an
-- admin the one named. Nothing when it was used, withdrawn, is too old, or never was.
CREATE FUNCTION take_invite(hash bytea, member uuid, moment timestamptz) RETURNS uuid
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH taken AS (
    UPDATE network_invite i SET used_at = moment, used_by = member
     WHERE i.workspace_id = current_workspace() AND i.token_hash = hash AND i.used_at IS NULL
       AND i.revoked_at IS NULL AND i.expires_at > moment
       AND (current_client() IS NULL OR member = current_member())
       AND EXISTS (SELECT 1 FROM network n
         WHERE n.workspace_id = i.workspace_id AND n.id = i.network_id AND n.removed_at IS NULL)
    RETURNING i.workspace_id, i.network_id, i.ghost_id
  ), come AS ( -- who was named by somebody else is here under a name of their own
    DELETE FROM member m USING taken t
     WHERE m.workspace_id = t.workspace_id AND m.id = t.ghost_id AND m.ghost AND m.id <> member
  )
  SELECT network_id FROM taken
$$;
-- How many are in each of these networks, as far as somebody may know it who is not in them.
CREATE FUNCTION count_members(counted uuid[]) RETURNS TABLE (network_id uuid, members integer)
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT n.id, (SELECT count(*)::integer FROM network_member nm
     WHERE nm.workspace_id = n.workspace_id AND nm.network_id = n.id AND nm.left_at IS NULL)
    FROM network n
   WHERE n.workspace_id = current_workspace() AND n.id = ANY (counted)
     AND (current_client() IS NULL OR n.join_policy = 'anyone' OR n.owner_id = current_member()
       OR n.id = ANY (member_networks()))
$$;
-- What a network that both are in shows of a member: how they describe themselves. `faces` are the nodes
-- of `members`, in their order. Nothing of others, of what is hidden, or of what was kept back.
CREATE FUNCTION shown_members(members uuid[], faces uuid[])
  RETURNS TABLE (id uuid, name text, text text, face jsonb)
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT m.id, n.title, n.text, jsonb_build_object('location', n.metadata->'location',
      'context', n.metadata->'context', 'skills', n.metadata->'skills', 'interests', n.metadata->'interests')
    FROM unnest(members, faces) AS a (member_id, face_id)
    JOIN member m ON m.workspace_id = current_workspace() AND m.id = a.member_id
    LEFT JOIN node n ON n.workspace_id = m.workspace_id AND n.id = a.face_id
     AND n.label = 'Member' AND n.client_id = m.client_id AND n.state = 'active'
     AND n.scope = ANY (current_scopes())
   WHERE current_client() IS NULL OR m.client_id = current_client()
      OR EXISTS (SELECT 1 FROM network_member nm
        WHERE nm.workspace_id = m.workspace_id AND nm.member_id = m.id AND nm.left_at IS NULL
          AND nm.network_id = ANY (member_networks()))
$$;
-- The active intents that a network shows which both are in; of one member, when said.
CREATE FUNCTION shown_intents(networks uuid[], owner uuid, after uuid, most integer)
  RETURNS TABLE (id uuid, member_id uuid, side text, text text, networks uuid[])
  LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT i.id, i.member_id, i.side, n.text, array_agg(x.network_id ORDER BY x.network_id)
    FROM intent_network x
    JOIN network_member nm ON nm.workspace_id = x.workspace_id AND nm.network_id = x.network_id
     AND nm.member_id = x.member_id AND nm.left_at IS NULL
    JOIN intent i ON i.workspace_id = x.workspace_id AND i.id = x.intent_id AND i.state = 'active'
    JOIN member m ON m.workspace_id = i.workspace_id AND m.id = i.member_id
    JOIN node n ON n.workspace_id = i.workspace_id AND n.id = i.id AND n.label = 'Intent'
     AND n.client_id = m.client_id AND n.state = 'active' AND n.scope = ANY (current_scopes())
   WHERE x.workspace_id = current_workspace() AND x.removed_at IS NULL
     AND x.network_id = ANY (shown_intents.networks)
     AND (current_client() IS NULL OR x.network_id = ANY (member_networks()))
     AND (owner IS NULL OR x.member_id = owner) AND (after IS NULL OR i.id < after)
   GROUP BY i.id, i.member_id, i.side, n.text ORDER BY i.id DESC LIMIT most
$$;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['current_member()', 'member_networks()', 'owned_networks()', 'may_join(uuid)',
      'take_invite(bytea, uuid, timestamptz)', 'count_members(uuid[])', 'shown_members(uuid[], uuid[])',
      'shown_intents(uuid[], uuid, uuid, integer)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', name);
  END LOOP;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['member', 'network', 'network_member', 'network_invite', 'intent',
      'intent_network', 'opportunity', 'opportunity_change'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['member', 'network', 'network_member', 'network_invite', 'intent',
      'intent_network'] LOOP
    EXECUTE format('CREATE POLICY finder ON %I FOR SELECT TO cairn_finder USING (true)', name);
  END LOOP;
END
$$;

-- What makes a row what it is does not change.
REVOKE UPDATE ON member, network, network_member, network_invite, intent_network FROM cairn_app;
GRANT UPDATE (ghost, since) ON member TO cairn_app;
GRANT UPDATE (name, prompt, join_policy, owner_id, version, changed_at, removed_at) ON network TO cairn_app;
GRANT UPDATE (role, prompt, left_at, judge_since) ON network_member TO cairn_app;
GRANT UPDATE (revoked_at, used_at, used_by, made_by) ON network_invite TO cairn_app;
GRANT UPDATE (score, direct, removed_at) ON intent_network TO cairn_app;
CREATE POLICY finder_takes ON network_invite FOR UPDATE TO cairn_finder USING (true) WITH CHECK (true);
CREATE POLICY finder_drops ON member FOR DELETE TO cairn_finder USING (ghost);

-- The perimeter: of others, a member sees what a shared network shows.
CREATE POLICY own_member ON member AS RESTRICTIVE FOR SELECT TO cairn_app
  USING ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()));
CREATE POLICY own_network ON network AS RESTRICTIVE FOR SELECT TO cairn_app
  USING ((SELECT current_client()) IS NULL OR join_policy = 'anyone' OR owner_id = (SELECT current_member())
    OR id = ANY ((SELECT member_networks())::uuid[]));
CREATE POLICY own_network ON network_member AS RESTRICTIVE FOR SELECT TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member())
    OR network_id = ANY ((SELECT owned_networks())::uuid[])
    OR (left_at IS NULL AND network_id = ANY ((SELECT member_networks())::uuid[])));
CREATE POLICY own_invite ON network_invite AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR made_by = (SELECT current_member())
    OR network_id = ANY ((SELECT owned_networks())::uuid[]))
  WITH CHECK ((SELECT current_client()) IS NULL OR network_id = ANY ((SELECT owned_networks())::uuid[])
    OR (made_by = (SELECT current_member()) AND network_id = ANY ((SELECT member_networks())::uuid[])
      AND EXISTS (SELECT 1 FROM network n WHERE n.workspace_id = network_invite.workspace_id
        AND n.id = network_invite.network_id AND n.join_policy = 'anyone')));
CREATE POLICY own_intent ON intent AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member()));
CREATE POLICY own_intent ON intent_network AS RESTRICTIVE FOR SELECT TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member())
    OR network_id = ANY ((SELECT owned_networks())::uuid[]));

-- What a member writes: themselves (or somebody who is not here yet), their own networks, their own
-- place in a network that lets them in, where their own intents belong. An owner lets others go.
CREATE POLICY writes_member ON member AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()) OR ghost);
CREATE POLICY changes_member ON member AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()));
CREATE POLICY writes_network ON network AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK ((SELECT current_client()) IS NULL OR owner_id = (SELECT current_member()));
CREATE POLICY changes_network ON network AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR owner_id = (SELECT current_member()))
  WITH CHECK ((SELECT current_client()) IS NULL OR owner_id = (SELECT current_member()));
CREATE POLICY joins ON network_member AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK ((SELECT current_client()) IS NULL
    OR (member_id = (SELECT current_member()) AND may_join(network_id)
      AND (role = 'member' OR network_id = ANY ((SELECT owned_networks())::uuid[]))));
CREATE POLICY changes_place ON network_member AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR (left_at IS NULL
    AND (member_id = (SELECT current_member()) OR network_id = ANY ((SELECT owned_networks())::uuid[]))))
  WITH CHECK ((SELECT current_client()) IS NULL OR role = 'member'
    OR (member_id = (SELECT current_member()) AND network_id = ANY ((SELECT owned_networks())::uuid[])));
CREATE POLICY assigns ON intent_network AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK ((SELECT current_client()) IS NULL OR (member_id = (SELECT current_member())
    AND network_id = ANY ((SELECT member_networks())::uuid[])
    AND EXISTS (SELECT 1 FROM intent i WHERE i.workspace_id = intent_network.workspace_id
      AND i.id = intent_network.intent_id AND i.member_id = intent_network.member_id)));
CREATE POLICY unassigns ON intent_network AS RESTRICTIVE FOR UPDATE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member())
    OR network_id = ANY ((SELECT owned_networks())::uuid[]))
  WITH CHECK ((SELECT current_client()) IS NULL OR removed_at IS NOT NULL
    OR (member_id = (SELECT current_member()) AND network_id = ANY ((SELECT member_networks())::uuid[])));
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['member', 'network', 'network_member', 'network_invite', 'intent_network'] LOOP
    EXECUTE format('CREATE POLICY keeps ON %I AS RESTRICTIVE FOR DELETE TO cairn_app'
      ' USING ((SELECT current_client()) IS NULL)', name);
  END LOOP;
END
$$;

-- The one who looked sees it from the start, the other once it was sent or while it is negotiated for them.
CREATE POLICY own_opportunity ON opportunity AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL
    OR (SELECT current_member()) IN (source_id, introducer_id)
    OR (target_id = (SELECT current_member()) AND state IN ('pending', 'accepted', 'rejected')));
CREATE POLICY own_opportunity ON opportunity_change AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR EXISTS (SELECT 1 FROM opportunity o
    WHERE o.workspace_id = opportunity_change.workspace_id AND o.id = opportunity_change.opportunity_id));
