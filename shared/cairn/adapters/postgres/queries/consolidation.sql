-- name: clients
-- Clients with memories no consolidation has looked at, the longest waiting first. The workspace
-- stands for no client; a client whose data subject was forgotten is not named.
SELECT coalesce(s.id, %(workspace_id)s) AS id, w.client_id AS name
  FROM (SELECT n.client_id, min(n.created_position) AS since FROM node n
         WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory' AND n.namespace IS NULL AND NOT n.consolidated
           AND n.screening = 'clean' AND n.state IN ('active', 'provisional')
           AND (n.conversation_id IS NULL OR n.scope = 'admin')
         GROUP BY n.client_id) AS w
  LEFT JOIN data_subject s ON s.workspace_id = %(workspace_id)s AND s.kind = 'client'
   AND s.natural_key = w.client_id
 WHERE s.id IS NOT NULL OR w.client_id = 'global'
 ORDER BY w.since

-- name: client
-- A client by its data subject.
SELECT natural_key FROM data_subject
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND kind = 'client'

-- name: next
-- The next memories of a client that no consolidation has looked at and that have their vector: by
-- audience, then age. A scope at a time, so that each comes in the order of the index; OFFSET keeps
-- the planner from beginning with all vectors there are.
SELECT found.id
  FROM unnest(ARRAY['admin', 'public', 'shared']) AS s (scope)
 CROSS JOIN LATERAL (
   SELECT n.id, n.agents IS NULL AS for_all, hash_array_extended(coalesce(n.agents, '{}'), 0) AS agents,
          hash_array_extended(n.data_subjects, 0) AS subjects, n.created_position
     FROM node n
    WHERE n.workspace_id = %(workspace_id)s AND n.client_id = %(client_id)s AND n.scope = s.scope
      AND n.label = 'Memory' AND n.namespace IS NULL AND NOT n.consolidated AND n.screening = 'clean'
      AND n.state IN ('active', 'provisional') AND n.id <> ALL (%(without)s)
      AND (n.conversation_id IS NULL OR n.scope = 'admin')
      AND EXISTS (SELECT FROM embedding e WHERE e.workspace_id = %(workspace_id)s
                    AND e.node_id = n.id AND e.model_id = %(model_id)s OFFSET 0)
    ORDER BY 2, 3, 4, 5 LIMIT %(limit)s) AS found
 ORDER BY s.scope, found.for_all, found.agents, found.subjects, found.created_position
 LIMIT %(limit)s

-- name: memories
-- Memories that are to be found, with the entities their texts name; not what a public key sees of one
-- conversation only, as what is made of several is everybody's.
-- columns: cairn.consolidation.plan.BatchMemory but audience
SELECT {n.columns}, n.scope, n.agents, n.data_subjects, n.consolidated AS known,
  named.entities
  FROM node n
 CROSS JOIN LATERAL (
   SELECT coalesce(jsonb_agg(jsonb_build_array(e.canonical_name, e.kind)
            ORDER BY e.canonical_name, e.kind), '[]') AS entities
     FROM edge r JOIN node e ON e.workspace_id = %(workspace_id)s AND e.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.view = 'entity' AND r.relation = 'REFERENCES'
      AND r.source_id = n.id AND r.superseded_at IS NULL AND e.label = 'Entity'
      AND e.state = 'active' AND r.properties ->> 'role' = 'mentioned') AS named
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.label = 'Memory' AND n.namespace IS NULL
   AND n.screening = 'clean' AND n.state IN ('active', 'provisional')
   AND (n.conversation_id IS NULL OR n.scope = 'admin')

-- name: near
-- Pairs of these memories with others of their client and audience, by the index.
SELECT DISTINCT least(f.node_id, f.other_id) AS one, greatest(f.node_id, f.other_id) AS other,
  f.score AS cosine
  FROM find_near_memories(%(ids)s::uuid[], %(model_id)s::smallint, %(minimum)s::real, %(wanted)s)
    AS f
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = f.node_id
  JOIN node o ON o.workspace_id = %(workspace_id)s AND o.id = f.other_id
   AND o.data_subjects = n.data_subjects AND o.screening = 'clean'
 ORDER BY f.score DESC, 1, 2

-- name: pairs
-- Every pair among these memories, exactly: the greatest cosine of any two of their windows.
SELECT a.node_id AS one, b.node_id AS other, max(1 - (a.v <=> b.v))::real AS cosine
  FROM embedding a JOIN embedding b ON b.workspace_id = %(workspace_id)s
   AND b.model_id = %(model_id)s AND b.node_id = ANY (%(ids)s) AND a.node_id < b.node_id
   AND b.scope = a.scope AND b.agents IS NOT DISTINCT FROM a.agents
 WHERE a.workspace_id = %(workspace_id)s AND a.model_id = %(model_id)s AND a.node_id = ANY (%(ids)s)
 GROUP BY a.node_id, b.node_id
HAVING max(1 - (a.v <=> b.v)) >= %(minimum)s

-- name: standing
-- How memories stand that are still to be found.
SELECT id, position, consolidated, metadata FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label = 'Memory' AND namespace IS NULL
   AND state IN ('active', 'provisional')

-- name: left
-- What no run takes: without a vector of the model, or not screened as clean.
SELECT count(*) FILTER (WHERE n.screening = 'clean' AND NOT EXISTS (
         SELECT FROM embedding e WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id
            AND e.model_id = %(model_id)s)) AS without_vector,
       count(*) FILTER (WHERE n.screening <> 'clean') AS suspicious
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory' AND n.namespace IS NULL AND NOT n.consolidated
   AND n.state IN ('active', 'provisional')

-- name: add_run
-- Keep a new run.
INSERT INTO consolidation_run (workspace_id, id, state, trigger, dry_run, client, requested_by,
  provider, model, counts, cost_usd, undone, execution, created_at, started_at, updated_at, ended_at)
VALUES (%(workspace_id)s, %(id)s, %(state)s, %(trigger)s, %(dry_run)s, %(client)s,
  %(requested_by)s, %(provider)s, %(model)s, %(counts)s, %(cost_usd)s, %(undone)s, %(execution)s,
  %(created_at)s, %(started_at)s, %(updated_at)s, %(ended_at)s)

-- name: runs
-- Runs, the newest first; ids sort by the time they were made.
SELECT id, state, trigger, dry_run, client, requested_by, provider, model, counts, cost_usd, undone,
  error, execution, created_at, started_at, updated_at, ended_at
  FROM consolidation_run
 WHERE workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(id)s::uuid IS NULL OR id = %(id)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: begin_run
-- Let a waiting run run.
UPDATE consolidation_run
   SET state = 'running', started_at = %(now)s, updated_at = %(now)s, execution = %(execution)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'waiting'

-- name: progress_run
-- Add what a batch did to its run; an unknown cost makes the whole unknown.
UPDATE consolidation_run AS r
   SET counts = (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM (
         SELECT key, sum(value::bigint) AS value
           FROM (SELECT * FROM jsonb_each_text(r.counts)
                 UNION ALL SELECT * FROM jsonb_each_text(%(counts)s)) AS both_counts
          GROUP BY key) AS summed),
       cost_usd = r.cost_usd + %(cost_usd)s, provider = coalesce(%(provider)s, r.provider),
       model = coalesce(%(model)s, r.model),
       undone = ARRAY(SELECT DISTINCT one FROM unnest(r.undone || %(undone)s) AS one ORDER BY one),
       updated_at = %(now)s
 WHERE r.workspace_id = %(workspace_id)s AND r.id = %(id)s

-- name: note_failure
-- Keep why a part of a run failed, the first reason of several.
UPDATE consolidation_run
   SET error = coalesce(error, %(error)s), updated_at = %(now)s,
       counts = counts || jsonb_build_object('failures',
         coalesce((counts ->> 'failures')::integer, 0) + 1)
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state IN ('waiting', 'running')

-- name: end_run
-- End a run that has not ended.
UPDATE consolidation_run
   SET state = %(state)s, counts = counts || %(counts)s, error = coalesce(error, %(error)s),
       updated_at = %(now)s, ended_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state IN ('waiting', 'running')

-- name: abandon_runs
-- End runs that nothing has moved for long: their machine is gone.
UPDATE consolidation_run
   SET state = 'failed', updated_at = %(now)s, ended_at = %(now)s,
       error = coalesce(error, '{"error": "Abandoned", "reason": "abandoned"}')
 WHERE workspace_id = %(workspace_id)s AND state IN ('waiting', 'running')
   AND updated_at < %(before)s
