-- Matching: who said yes, whose search found it too, hypothetical documents, and the candidate functions
-- that show of others what a shared network shows.
-- depends: 0078.discovery

ALTER TABLE opportunity
  ADD COLUMN source_yes_at timestamptz, -- each side says yes for itself
  ADD COLUMN target_yes_at timestamptz,
  ADD COLUMN target_found_at timestamptz; -- the other one's own search found it, too
DROP POLICY own_opportunity ON opportunity;
CREATE POLICY own_opportunity ON opportunity AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL
    OR (SELECT current_member()) IN (source_id, introducer_id)
    OR (target_id = (SELECT current_member())
      AND (state IN ('pending', 'accepted', 'rejected') OR target_found_at IS NOT NULL)));

CREATE TABLE hyde_document ( -- what an ideal match would say, by the lens it is seen through
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  source_id uuid NOT NULL, -- an intent's or a profile's node
  member_id uuid NOT NULL, -- whose it is
  lens smallint NOT NULL CHECK (lens BETWEEN 1 AND 5),
  corpus text NOT NULL CHECK (corpus IN ('profiles', 'intents')),
  source_hash bytea NOT NULL, -- of the text that it was made of: another text is a miss
  made_by text NOT NULL CHECK (made_by IN ('rules', 'model')),
  body bytea NOT NULL, -- label, reason and text, sealed for the member
  made_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, source_id, lens)
);
CREATE INDEX hyde_document_of ON hyde_document (workspace_id, member_id);
ALTER TABLE hyde_document ENABLE ROW LEVEL SECURITY;
ALTER TABLE hyde_document FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON hyde_document TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON hyde_document TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
CREATE POLICY own_hyde_document ON hyde_document AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member()));
GRANT SELECT, INSERT, UPDATE, DELETE ON hyde_document TO cairn_app, cairn_migrator;

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- Texts of others come through `shown_texts` alone, which asks the memberships.
GRANT SELECT (title, text) ON node TO cairn_finder;
GRANT SELECT (tokens) ON embedding TO cairn_finder;
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;

-- Active intents of others, near to a vector, in networks that the member of the transaction is in.
-- A small network is read whole; in a large one the index is asked, and memberships after it, so that
-- the cost does not grow with the members there are.
CREATE FUNCTION meetings_near(
  vec halfvec, model smallint, minimum real, wanted integer, sides text[], networks uuid[]
) RETURNS TABLE (node_id uuid, member_id uuid, network_id uuid, relevancy double precision, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
  SET hnsw.ef_search = 100
  SET hnsw.iterative_scan = relaxed_order
AS $$
DECLARE
  w uuid := current_workspace();
  me uuid := current_member();
  nets uuid[];
  dimensions integer;
  few boolean;
  near text;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  SELECT array_agg(n) INTO nets FROM unnest(member_networks()) AS n
   WHERE networks IS NULL OR n = ANY (networks);
  IF w IS NULL OR me IS NULL OR dimensions IS NULL OR nets IS NULL THEN
    RETURN;
  END IF;
  SELECT count(*) <= 2000 INTO few FROM (SELECT FROM intent_network a
    WHERE a.workspace_id = w AND a.network_id = ANY (nets) AND a.removed_at IS NULL LIMIT 2001) AS counted;
  IF few THEN
    near := format($query$
      SELECT DISTINCT e.node_id, e.v::halfvec(%1$s) <=> $1::halfvec(%1$s) AS distance
        FROM intent_network a
        JOIN embedding e ON e.workspace_id = $2 AND e.node_id = a.intent_id AND e.model_id = %2$s
       WHERE a.workspace_id = $2 AND a.network_id = ANY ($4) AND a.removed_at IS NULL
         AND a.member_id <> $3 AND e.state = 'active' AND e.label = 'Intent' AND e.kind = ANY ($5)
       ORDER BY distance LIMIT $6$query$, dimensions, model);
  ELSE
    near := format($query$
      SELECT e.node_id, e.v::halfvec(%1$s) <=> $1::halfvec(%1$s) AS distance
        FROM embedding e
       WHERE e.workspace_id = $2 AND e.model_id = %2$s AND e.label = 'Intent' AND e.state = 'active'
         AND e.kind = ANY ($5)
         AND EXISTS (SELECT FROM intent_network a
           WHERE a.workspace_id = $2 AND a.intent_id = e.node_id AND a.removed_at IS NULL
             AND a.network_id = ANY ($4) AND a.member_id <> $3)
       ORDER BY e.v::halfvec(%1$s) <=> $1::halfvec(%1$s) LIMIT $6$query$, dimensions, model);
  END IF;
  RETURN QUERY EXECUTE format($query$
    WITH near AS MATERIALIZED (%s)
    SELECT a.intent_id, a.member_id, a.network_id, a.score, (1 - min(near.distance))::real AS likeness
      FROM near
      JOIN intent_network a ON a.workspace_id = $2 AND a.intent_id = near.node_id AND a.removed_at IS NULL
       AND a.network_id = ANY ($4)
      JOIN intent i ON i.workspace_id = $2 AND i.id = a.intent_id AND i.state = 'active'
       AND (i.expires_at IS NULL OR i.expires_at > statement_timestamp())
      JOIN network_member nm ON nm.workspace_id = $2 AND nm.network_id = a.network_id
       AND nm.member_id = a.member_id AND nm.left_at IS NULL
     WHERE 1 - near.distance >= $7
     GROUP BY 1, 2, 3, 4 ORDER BY likeness DESC, a.intent_id, a.network_id$query$, near)
    USING vec, w, me, nets, sides, wanted, minimum;
END
$$;

-- The same of profiles.
CREATE FUNCTION members_near(
  vec halfvec, model smallint, minimum real, wanted integer, networks uuid[]
) RETURNS TABLE (node_id uuid, member_id uuid, network_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
  SET hnsw.ef_search = 100
  SET hnsw.iterative_scan = relaxed_order
AS $$
DECLARE
  w uuid := current_workspace();
  me uuid := current_member();
  nets uuid[];
  dimensions integer;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  SELECT array_agg(n) INTO nets FROM unnest(member_networks()) AS n
   WHERE networks IS NULL OR n = ANY (networks);
  IF w IS NULL OR me IS NULL OR dimensions IS NULL OR nets IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    WITH near AS MATERIALIZED (
      SELECT e.node_id, e.client_id, e.v::halfvec(%1$s) <=> $1::halfvec(%1$s) AS distance
        FROM embedding e
       WHERE e.workspace_id = $2 AND e.model_id = %2$s AND e.label = 'Member' AND e.state = 'active'
         AND EXISTS (SELECT FROM member m
           JOIN network_member nm ON nm.workspace_id = $2 AND nm.member_id = m.id AND nm.left_at IS NULL
           WHERE m.workspace_id = $2 AND m.client_id = e.client_id AND m.id <> $3
             AND nm.network_id = ANY ($4))
       ORDER BY e.v::halfvec(%1$s) <=> $1::halfvec(%1$s) LIMIT $5
    )
    SELECT near.node_id, m.id, nm.network_id, (1 - min(near.distance))::real AS likeness
      FROM near
      JOIN member m ON m.workspace_id = $2 AND m.client_id = near.client_id
      JOIN network_member nm ON nm.workspace_id = $2 AND nm.member_id = m.id
       AND nm.left_at IS NULL AND nm.network_id = ANY ($4)
     WHERE 1 - near.distance >= $6
     GROUP BY 1, 2, 3 ORDER BY likeness DESC, near.node_id, nm.network_id$query$, dimensions, model)
    USING vec, w, me, nets, wanted, minimum;
END
$$;

-- The active intents of some others, and in which shared networks; the latest of each first.
CREATE FUNCTION meetings_of(members uuid[], networks uuid[])
  RETURNS TABLE (node_id uuid, member_id uuid, network_id uuid, relevancy double precision)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT a.intent_id, a.member_id, a.network_id, a.score
    FROM intent_network a
    JOIN intent i ON i.workspace_id = a.workspace_id AND i.id = a.intent_id AND i.state = 'active'
     AND (i.expires_at IS NULL OR i.expires_at > statement_timestamp())
    JOIN network_member nm ON nm.workspace_id = a.workspace_id AND nm.network_id = a.network_id
     AND nm.member_id = a.member_id AND nm.left_at IS NULL
   WHERE a.workspace_id = current_workspace() AND i.member_id = ANY (members)
     AND a.removed_at IS NULL AND a.member_id <> current_member()
     AND a.network_id = ANY (member_networks()) AND (networks IS NULL OR a.network_id = ANY (networks))
   ORDER BY i.changed_at DESC, a.intent_id LIMIT 1000
$$;

-- What a shared network shows of others: active intents that are in one, and profiles.
CREATE FUNCTION shown_texts(ids uuid[], model smallint)
  RETURNS TABLE (node_id uuid, member_id uuid, label text, side text, title text, body text,
    shown jsonb, tokens bytea)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT n.id, m.id, n.label, n.kind, n.title, n.text,
         CASE WHEN n.label = 'Member' THEN jsonb_strip_nulls(jsonb_build_object(
           'name', n.metadata -> 'name', 'location', n.metadata -> 'location',
           'skills', n.metadata -> 'skills', 'interests', n.metadata -> 'interests')) ELSE '{}' END,
         (SELECT e.tokens FROM embedding e WHERE e.workspace_id = n.workspace_id AND e.node_id = n.id
            AND e.model_id = model ORDER BY e.ordinal LIMIT 1)
    FROM node n
    JOIN member m ON m.workspace_id = n.workspace_id AND m.client_id = n.client_id
   WHERE n.workspace_id = current_workspace() AND n.id = ANY (ids) AND n.state = 'active'
     AND current_member() IS NOT NULL
     AND CASE n.label
       WHEN 'Intent' THEN EXISTS (SELECT FROM intent i
         JOIN intent_network a ON a.workspace_id = i.workspace_id AND a.intent_id = i.id
          AND a.removed_at IS NULL AND a.network_id = ANY (member_networks())
         JOIN network_member nm ON nm.workspace_id = a.workspace_id AND nm.network_id = a.network_id
          AND nm.member_id = a.member_id AND nm.left_at IS NULL
         WHERE i.workspace_id = n.workspace_id AND i.id = n.id AND i.member_id = m.id
           AND i.state = 'active')
       WHEN 'Member' THEN EXISTS (SELECT FROM network_member nm
         WHERE nm.workspace_id = n.workspace_id AND nm.member_id = m.id AND nm.left_at IS NULL
           AND nm.network_id = ANY (member_networks()))
       ELSE false END
$$;
REVOKE ALL ON FUNCTION meetings_near(halfvec, smallint, real, integer, text[], uuid[]),
  members_near(halfvec, smallint, real, integer, uuid[]), meetings_of(uuid[], uuid[]),
  shown_texts(uuid[], smallint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION meetings_near(halfvec, smallint, real, integer, text[], uuid[]),
  members_near(halfvec, smallint, real, integer, uuid[]), meetings_of(uuid[], uuid[]),
  shown_texts(uuid[], smallint) TO cairn_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
