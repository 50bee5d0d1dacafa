-- name: enrichable
-- Nodes to be found, each with the two messages before it (same session and audience); a report with
-- its title; a document with its title and the beginning of all it says.
SELECT n.id, n.label,
  CASE WHEN n.label = 'Report' THEN n.title || E'\n\n' ELSE '' END || n.text AS text,
  coalesce(c.texts, '{}') AS context, n.scope, n.agents, n.data_subjects,
  n.occurred_at, n.kind, n.client_id, n.source_agent, n.session_id, n.sequence, n.trace_id,
  n.parent_id, n.document_id, n.ordinal, n.importance, n.keywords,
  CASE WHEN n.label IN ('Event', 'Message') OR n.conversation_id IS NOT NULL THEN n.metadata ELSE '{}' END AS metadata,
  CASE WHEN n.label = 'Document' THEN array_remove(ARRAY[n.title, w.text], NULL) ELSE '{}' END
    AS wholes,
  n.consolidated, n.conversation_id, c.ids[1] AS before_id, c.moments[1] AS before_at
  FROM node n
  LEFT JOIN LATERAL (
    SELECT left(string_agg(chunk.text, E'\n\n' ORDER BY chunk.ordinal), %(beginning)s) AS text
      FROM (SELECT p.text, p.ordinal FROM node p
             WHERE p.workspace_id = %(workspace_id)s AND p.document_id = n.id AND p.label = 'Chunk'
               AND p.state IN ('active', 'provisional')
             ORDER BY p.ordinal LIMIT %(first)s) AS chunk
  ) AS w ON n.label = 'Document'
  LEFT JOIN LATERAL (
    SELECT array_agg(before.text) AS texts, array_agg(before.id) AS ids,
           array_agg(before.occurred_at) AS moments
      FROM (SELECT p.text, p.id, p.occurred_at FROM node p
             WHERE p.workspace_id = %(workspace_id)s AND p.session_id = n.session_id
               AND (p.sequence, p.id) < (n.sequence, n.id)
               AND p.label = n.label AND p.state IN ('active', 'provisional')
               AND (n.label = 'Memory' OR p.parent_id = n.parent_id)
               AND p.scope = n.scope AND p.agents IS NOT DISTINCT FROM n.agents
               AND p.data_subjects = n.data_subjects
             ORDER BY p.sequence DESC, p.id DESC LIMIT 2) AS before
  ) AS c ON n.label IN ('Memory', 'Message') AND n.sequence IS NOT NULL
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.state IN ('active', 'provisional', 'superseded')

-- name: silent
-- Conversations whose messages stay messages.
SELECT id FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label = 'Conversation'
   AND metadata @> '{"cairn": {"infer": false}}'

-- name: said_before
-- The last messages of conversations before a place in each.
SELECT said.id, said.text, said.kind, said.scope, said.agents, said.data_subjects, said.occurred_at,
  said.client_id, said.parent_id, said.sequence, said.metadata
  FROM unnest(%(ids)s::uuid[], %(sequences)s::bigint[]) AS asked (id, sequence)
 CROSS JOIN LATERAL (
   SELECT n.* FROM node n
    WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = asked.id AND n.label = 'Message'
      AND n.sequence < asked.sequence AND n.state IN ('active', 'provisional')
    ORDER BY n.sequence DESC LIMIT %(limit)s) AS said

-- name: undrawn
-- The next conversations by id in which people said something that no model drew memories from yet.
SELECT c.id FROM node c
 WHERE c.workspace_id = %(workspace_id)s AND c.id > %(after)s AND c.label = 'Conversation'
   AND c.state IN ('active', 'provisional') AND NOT c.metadata @> '{"cairn": {"infer": false}}'
   AND EXISTS (SELECT FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = c.id AND n.label = 'Message'
       AND n.sequence > coalesce((c.metadata #>> '{cairn,drawn}')::bigint, 0)
       AND n.kind = 'user' AND n.state IN ('active', 'provisional'))
 ORDER BY c.id LIMIT %(limit)s

-- name: said_from
-- The messages of a conversation from a place on.
SELECT id, text, kind, scope, agents, data_subjects, occurred_at, client_id, parent_id, sequence,
  source_agent, session_id, metadata
  FROM node
 WHERE workspace_id = %(workspace_id)s AND parent_id = %(id)s AND label = 'Message'
   AND sequence >= %(sequence)s AND state IN ('active', 'provisional')
 ORDER BY sequence LIMIT %(limit)s

-- name: similar
-- Stored nodes near these vectors, each in the audience of its node.
SELECT f.node_id, f.other_id, f.score, o.document_id, o.ordinal, o.session_id, o.sequence
  FROM find_similar(%(ids)s::uuid[], %(vectors)b::halfvec[], %(model_id)s::smallint,
    %(minimum)s::real, %(wanted)s) AS f
  JOIN node o ON o.workspace_id = %(workspace_id)s AND o.id = f.other_id

-- name: drawn
-- Nodes that have a vector of a model, drawn at random.
SELECT e.node_id FROM embedding e
 WHERE e.workspace_id = %(workspace_id)s AND e.model_id = %(model_id)s AND e.ordinal = 0
 ORDER BY random() LIMIT %(limit)s

-- name: following
-- The next nodes by id that have a vector of a model.
SELECT e.node_id FROM embedding e
 WHERE e.workspace_id = %(workspace_id)s AND e.model_id = %(model_id)s AND e.ordinal = 0
   AND e.node_id > %(after)s
 ORDER BY e.node_id LIMIT %(limit)s

-- name: cached
-- The vectors and token vectors of texts seen before.
SELECT text_hash, v, tokens FROM embedding_cache
 WHERE workspace_id = %(workspace_id)s AND text_hash = ANY (%(hashes)s) AND model_id = %(model_id)s

-- name: cache
-- Keep the vectors of texts; what has one already may still get token vectors.
INSERT INTO embedding_cache AS c (workspace_id, text_hash, model_id, v, tokens, created_at)
SELECT %(workspace_id)s, asked.text_hash, %(model_id)s, asked.v, asked.tokens, %(now)s
  FROM unnest(%(hashes)s::bytea[], %(vectors)b::halfvec[], %(tokens)s::bytea[])
    AS asked (text_hash, v, tokens)
ON CONFLICT (workspace_id, text_hash, model_id) DO UPDATE SET tokens = excluded.tokens
 WHERE c.tokens IS NULL AND excluded.tokens IS NOT NULL

-- name: own_cached
-- Keep whose text a cached vector is of, the first one's, so that it goes with it.
UPDATE embedding_cache AS c SET node_id = asked.id
  FROM (SELECT DISTINCT ON (text_hash) text_hash, id
          FROM unnest(%(hashes)s::bytea[], %(ids)s::uuid[]) AS one (text_hash, id)
         ORDER BY text_hash, id) AS asked
 WHERE c.workspace_id = %(workspace_id)s AND c.text_hash = asked.text_hash
   AND c.model_id = %(model_id)s AND c.node_id IS NULL

-- name: store
-- Replace the vectors of nodes, with the guards as the nodes have them now.
INSERT INTO embedding (workspace_id, node_id, model_id, ordinal, v, tokens, position, label, kind, scope,
  agents, client_id, state, occurred_at, valid_from, valid_to, extra_labels)
SELECT n.workspace_id, n.id, %(model_id)s, asked.ordinal, asked.v, asked.tokens, %(position)s, n.label,
  n.kind, n.scope, n.agents, n.client_id, n.state, n.occurred_at, n.valid_from, n.valid_to,
  n.extra_labels
  FROM unnest(%(ids)s::uuid[], %(ordinals)s::smallint[], %(vectors)b::halfvec[], %(tokens)s::bytea[])
    AS asked (id, ordinal, v, tokens)
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = asked.id
ON CONFLICT (workspace_id, node_id, model_id, ordinal) DO UPDATE
   SET v = excluded.v, tokens = excluded.tokens, position = excluded.position
 WHERE embedding.position <= excluded.position

-- name: add
-- Store the vectors of nodes that have none, in one order for everybody who does.
INSERT INTO embedding (workspace_id, node_id, model_id, ordinal, v, tokens, position, label, kind, scope,
  agents, client_id, state, occurred_at, valid_from, valid_to, extra_labels)
SELECT n.workspace_id, n.id, %(model_id)s, asked.ordinal, asked.v, asked.tokens, %(position)s, n.label,
  n.kind, n.scope, n.agents, n.client_id, n.state, n.occurred_at, n.valid_from, n.valid_to,
  n.extra_labels
  FROM unnest(%(ids)s::uuid[], %(ordinals)s::smallint[], %(vectors)b::halfvec[], %(tokens)s::bytea[])
    AS asked (id, ordinal, v, tokens)
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = asked.id
 ORDER BY asked.id, asked.ordinal
ON CONFLICT DO NOTHING
RETURNING node_id, ordinal

-- name: settle
-- Give vectors that were added before the head was held the guards their nodes have by now, and count
-- the nodes that are there.
WITH moved AS (
  UPDATE embedding AS e
     SET label = n.label, kind = n.kind, scope = n.scope, agents = n.agents,
         client_id = n.client_id, state = n.state, occurred_at = n.occurred_at,
         valid_from = n.valid_from, valid_to = n.valid_to, extra_labels = n.extra_labels
    FROM node n
   WHERE e.workspace_id = %(workspace_id)s AND e.node_id = ANY (%(ids)s)
     AND e.model_id = %(model_id)s
     AND n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.id = e.node_id
     AND (e.label, e.kind, e.scope, e.agents, e.client_id, e.state, e.occurred_at, e.valid_from,
       e.valid_to, e.extra_labels) IS DISTINCT FROM (n.label, n.kind, n.scope, n.agents, n.client_id, n.state,
       n.occurred_at, n.valid_from, n.valid_to, n.extra_labels)
)
SELECT count(*) FROM node WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: trim
-- Remove the windows a node no longer has.
DELETE FROM embedding AS e
 USING unnest(%(ids)s::uuid[], %(counts)s::smallint[]) AS asked (id, windows)
 WHERE e.workspace_id = %(workspace_id)s AND e.node_id = asked.id AND e.model_id = %(model_id)s
   AND e.ordinal >= asked.windows AND e.position <= %(position)s

-- name: of_workspace
-- Every vector of a workspace, for exact search.
SELECT node_id, v FROM embedding
 WHERE workspace_id = %(workspace_id)s AND model_id = %(model_id)s AND ordinal = 0
