-- What is shown of others costs the same however many there are, and how near somebody is who was named.
-- depends: 0086.retries

GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;

-- What a network shows of others: active intents that are in one, and profiles. The workspace, the
-- member and their networks are asked once, and are known when the plan is made: it reads one partition.
CREATE OR REPLACE FUNCTION shown_texts(ids uuid[], model smallint)
  RETURNS TABLE (node_id uuid, member_id uuid, label text, side text, title text, body text,
    shown jsonb, tokens bytea)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  w uuid := current_workspace();
  nets uuid[];
BEGIN
  IF w IS NULL OR current_member() IS NULL THEN
    RETURN;
  END IF;
  nets := member_networks();
  RETURN QUERY
  SELECT n.id, m.id, n.label, n.kind, n.title, n.text,
         CASE WHEN n.label = 'Member' THEN jsonb_strip_nulls(jsonb_build_object(
           'name', n.metadata -> 'name', 'location', n.metadata -> 'location',
           'skills', n.metadata -> 'skills', 'interests', n.metadata -> 'interests')) ELSE '{}' END,
         (SELECT e.tokens FROM embedding e WHERE e.workspace_id = w AND e.node_id = n.id
            AND e.model_id = model ORDER BY e.ordinal LIMIT 1)
    FROM node n
   CROSS JOIN LATERAL (SELECT x.id FROM member x
     WHERE x.workspace_id = w AND x.client_id = n.client_id LIMIT 1) AS m
   WHERE n.workspace_id = w AND n.id = ANY (ids) AND n.state = 'active'
     AND CASE n.label
       WHEN 'Intent' THEN EXISTS (SELECT FROM intent i
         JOIN intent_network a ON a.workspace_id = w AND a.intent_id = i.id
          AND a.removed_at IS NULL AND a.network_id = ANY (nets)
         JOIN network_member nm ON nm.workspace_id = w AND nm.network_id = a.network_id
          AND nm.member_id = a.member_id AND nm.left_at IS NULL
         WHERE i.workspace_id = w AND i.id = n.id AND i.member_id = m.id AND i.state = 'active')
       WHEN 'Member' THEN EXISTS (SELECT FROM network_member nm
         WHERE nm.workspace_id = w AND nm.member_id = m.id AND nm.left_at IS NULL
           AND nm.network_id = ANY (nets))
       ELSE false END;
END
$$;

-- Some others who were named: their active intents, and of who has none the profile, in shared networks,
-- and how near each is. `faces` are the nodes of the profiles of `members`, in their order. Without a
-- vector of this model it is as far as can be. With `sides` only wishes of these sides.
CREATE FUNCTION named_near(
  vec halfvec, model smallint, members uuid[], faces uuid[], sides text[], networks uuid[]
)
  RETURNS TABLE (node_id uuid, member_id uuid, network_id uuid, relevancy double precision, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
  w uuid := current_workspace();
  me uuid := current_member();
  nets uuid[];
BEGIN
  SELECT array_agg(n) INTO nets FROM unnest(member_networks()) AS n
   WHERE networks IS NULL OR n = ANY (networks);
  IF w IS NULL OR me IS NULL OR nets IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH wishes AS (
    SELECT a.intent_id AS node_id, a.member_id, a.network_id, a.score AS relevancy
      FROM intent i
      JOIN intent_network a ON a.workspace_id = w AND a.intent_id = i.id AND a.removed_at IS NULL
       AND a.network_id = ANY (nets)
      JOIN network_member nm ON nm.workspace_id = w AND nm.network_id = a.network_id
       AND nm.member_id = a.member_id AND nm.left_at IS NULL
     WHERE i.workspace_id = w AND i.member_id = ANY (members) AND i.member_id <> me AND i.state = 'active'
       AND (i.expires_at IS NULL OR i.expires_at > statement_timestamp())
       AND (sides IS NULL OR i.side = ANY (sides))
     ORDER BY i.changed_at DESC, a.intent_id LIMIT 1000
  ), people AS (
    SELECT n.id AS node_id, m.id AS member_id, nm.network_id, 1.0::double precision AS relevancy
      FROM unnest(members, faces) AS f (member_id, face_id)
      JOIN member m ON m.workspace_id = w AND m.id = f.member_id AND m.id <> me
      JOIN network_member nm ON nm.workspace_id = w AND nm.member_id = m.id AND nm.left_at IS NULL
       AND nm.network_id = ANY (nets)
      JOIN node n ON n.workspace_id = w AND n.id = f.face_id AND n.client_id = m.client_id
       AND n.label = 'Member' AND n.state = 'active'
     WHERE sides IS NULL AND NOT EXISTS (SELECT FROM wishes s WHERE s.member_id = m.id)
  )
  SELECT x.node_id, x.member_id, x.network_id, x.relevancy,
         coalesce((SELECT max(1 - (e.v <=> vec)) FROM embedding e
           WHERE e.workspace_id = w AND e.node_id = x.node_id AND e.model_id = model), -1)::real
    FROM (SELECT * FROM wishes UNION ALL SELECT * FROM people) AS x;
END
$$;
REVOKE ALL ON FUNCTION named_near(halfvec, smallint, uuid[], uuid[], text[], uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION named_near(halfvec, smallint, uuid[], uuid[], text[], uuid[]) TO cairn_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
