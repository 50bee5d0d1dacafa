-- name: by_vector
-- Nodes near a vector, by the index.
SELECT node_id, score FROM find_by_vector(%(vector)s::halfvec, %(model_id)s::smallint, %(minimum)s::real,
  %(limit)s::integer, %(labels)s::text[], %(kinds)s::text[], %(client_id)s::text, %(scopes)s::text[],
  %(occurred_from)s::timestamptz, %(occurred_to)s::timestamptz, %(valid_at)s::timestamptz,
  %(include_superseded)s::boolean, %(namespace)s::text, %(below)s::text,
  %(matching)s::jsonpath)

-- name: by_vector_as_of
-- Nodes near a vector as they stood at a ledger position, scanned exactly.
SELECT node_id, score FROM find_by_vector_as_of(%(as_of_position)s::bigint, %(vector)s::halfvec,
  %(model_id)s::smallint, %(minimum)s::real, %(limit)s::integer, %(labels)s::text[], %(kinds)s::text[],
  %(client_id)s::text, %(scopes)s::text[], %(occurred_from)s::timestamptz, %(occurred_to)s::timestamptz,
  %(valid_at)s::timestamptz, %(include_superseded)s::boolean, %(namespace)s::text, %(below)s::text,
  %(matching)s::jsonpath)

-- name: by_keyword
-- Nodes with any of the words, by the index.
SELECT node_id, score FROM find_by_keyword(%(terms)s::text[], %(limit)s::integer, %(labels)s::text[],
  %(kinds)s::text[], %(client_id)s::text, %(scopes)s::text[], %(occurred_from)s::timestamptz,
  %(occurred_to)s::timestamptz, %(valid_at)s::timestamptz, %(include_superseded)s::boolean, %(language)s::text,
  %(namespace)s::text, %(below)s::text, %(matching)s::jsonpath)

-- name: by_keyword_as_of
-- Nodes with any of the words as they stood at a ledger position.
SELECT node_id, score FROM find_by_keyword_as_of(%(as_of_position)s::bigint, %(terms)s::text[],
  %(limit)s::integer, %(labels)s::text[], %(kinds)s::text[], %(client_id)s::text, %(scopes)s::text[],
  %(occurred_from)s::timestamptz, %(occurred_to)s::timestamptz, %(valid_at)s::timestamptz,
  %(include_superseded)s::boolean, %(language)s::text,
  %(namespace)s::text, %(below)s::text, %(matching)s::jsonpath)

-- name: without_vector
-- Which of these nodes have no vector of a model.
SELECT asked.id FROM unnest(%(ids)s::uuid[]) AS asked (id)
 WHERE NOT EXISTS (SELECT FROM embedding e WHERE e.workspace_id = %(workspace_id)s
                     AND e.node_id = asked.id AND e.model_id = %(model_id)s)

-- name: sketch
-- What ranking needs of candidates, as their reader may see them; the columns of `Sketch`. Messages that
-- were turned away are records, and found by their label only; so are what a chat was asked and what it
-- quoted. What stands now in the place of all that was drawn from a message is named with it.
SELECT id, kind, text, created_position, occurred_at, recorded_at, session_id, document_id,
  source_agent, subject, canonical_name, confidence, access_count, last_accessed_at, label, slug,
  content_hash, client_id, backlink_count, compiled_truth IS NOT NULL, parent_id,
  state, valid_to, pinned, CASE WHEN label = 'Message' THEN (
    SELECT CASE WHEN bool_and(drawn.state = 'superseded') AND count(DISTINCT newer.id) = 1
      THEN min(newer.id::text)::uuid END
      FROM edge e
      JOIN node drawn ON drawn.workspace_id = %(workspace_id)s AND drawn.id = e.target_id
        AND drawn.label = 'Memory'
      LEFT JOIN node newer ON newer.workspace_id = %(workspace_id)s
        AND newer.chain_key = drawn.chain_key AND newer.state IN ('active', 'provisional')
     WHERE e.workspace_id = %(workspace_id)s AND e.source_id = node.id AND e.superseded_at IS NULL
       AND e.relation = 'PRODUCED') END
  FROM node WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s::uuid[])
   AND (%(records)s::boolean OR label <> 'Message' OR NOT metadata @> '{"cairn": {"accepted": false}}'
     AND NOT metadata @> '{"chat": {"echo": true}}')
   AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
   AND (%(below)s::text IS NULL OR namespace = %(below)s
     OR namespace >= %(below)s || '/' AND namespace < %(below)s || '0')
   AND (%(matching)s::jsonpath IS NULL OR label = 'Memory' AND metadata @@ %(matching)s::jsonpath)

-- name: sketch_as_of
-- The same of the versions that held at a ledger position.
SELECT id, kind, text, created_position, occurred_at, recorded_at, session_id, document_id,
  source_agent, subject, canonical_name, confidence, access_count, last_accessed_at, label, slug,
  content_hash, client_id, backlink_count, compiled_truth IS NOT NULL, parent_id, state, valid_to,
  pinned, NULL::uuid FROM node_version
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s::uuid[])
   AND from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(to_position, 9223372036854775807)
   AND (%(records)s::boolean OR label <> 'Message' OR NOT metadata @> '{"cairn": {"accepted": false}}'
     AND NOT metadata @> '{"chat": {"echo": true}}')
   AND (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
   AND (%(below)s::text IS NULL OR namespace = %(below)s
     OR namespace >= %(below)s || '/' AND namespace < %(below)s || '0')
   AND (%(matching)s::jsonpath IS NULL OR label = 'Memory' AND metadata @@ %(matching)s::jsonpath)

-- name: evidence
-- What the second pass reads of candidates: how much each word of the question is in them (ts_rank), how
-- many words they are, their best cosine, that of their document's title and beginning, their token
-- vectors, and the message before each in its session.
WITH asked AS MATERIALIZED (
  SELECT w.at, word_query(w.term, %(language)s::text) AS part
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS w (term, at)
)
SELECT n.id,
  coalesce((SELECT array_agg(ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, asked.part) ORDER BY asked.at)
     FROM asked), '{}') AS ranks,
  length(n.search_tsv), own.cosine, own.tokens, whole.title, whole.beginning, before.id,
  coalesce(before.asks, false), before.tokens
  FROM node n
  LEFT JOIN LATERAL (
    SELECT max(1 - (e.v <=> %(vector)s::halfvec)) AS cosine,
           string_agg(e.tokens, ''::bytea ORDER BY e.ordinal) AS tokens
      FROM embedding e
     WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id AND e.model_id = %(model_id)s
  ) AS own ON true
  LEFT JOIN LATERAL (
    SELECT max(1 - (e.v <=> %(vector)s::halfvec)) FILTER (WHERE e.ordinal = 0) AS title,
           max(1 - (e.v <=> %(vector)s::halfvec)) FILTER (WHERE e.ordinal = 1) AS beginning
      FROM embedding e
     WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.document_id AND e.model_id = %(model_id)s
       AND e.ordinal < 2
  ) AS whole ON n.document_id IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT p.id, right(rtrim(p.text), 1) IN ('?', U&'\FF1F') AS asks,
           CASE WHEN p.id <> ALL (%(ids)s::uuid[]) THEN (
             SELECT string_agg(e.tokens, ''::bytea ORDER BY e.ordinal) FROM embedding e
              WHERE e.workspace_id = %(workspace_id)s AND e.node_id = p.id AND e.model_id = %(model_id)s
           ) END AS tokens
      FROM edge f JOIN node p ON p.workspace_id = %(workspace_id)s AND p.id = f.target_id
     WHERE f.workspace_id = %(workspace_id)s AND f.source_id = n.id AND f.superseded_at IS NULL
       AND f.view = 'temporal' AND f.relation = 'FOLLOWS'
       AND p.session_id = n.session_id AND p.state IN ('active', 'provisional')
       AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(p.agents, '{""}')))
       AND (%(as_of_position)s::bigint IS NULL OR p.created_position <= %(as_of_position)s)
     LIMIT 1
  ) AS before ON n.session_id IS NOT NULL
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s::uuid[])

-- name: read
-- Found nodes as their reader may see them; what a subscription found need not be tagged for its agent.
-- columns: cairn.recall.records.FoundNode
SELECT {columns}, created_position AS position, coalesce(agents, '{}') AS agents,
  coalesce(headings, '{}') AS headings, coalesce(keywords, '{}') AS keywords,
  compiled_truth IS NOT NULL AS compiled_truth
  FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s::uuid[])
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}'))
     OR id = ANY (%(subscribed)s::uuid[]))

-- name: read_as_of
-- The versions of found nodes that held at a ledger position.
-- columns: cairn.recall.records.FoundNode
SELECT {columns}, created_position AS position, coalesce(agents, '{}') AS agents,
  coalesce(headings, '{}') AS headings, coalesce(keywords, '{}') AS keywords,
  compiled_truth IS NOT NULL AS compiled_truth
  FROM node_version
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s::uuid[])
   AND from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(to_position, 9223372036854775807)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}'))
     OR id = ANY (%(subscribed)s::uuid[]))

-- name: neighbours_in_session
-- The messages just before and after each result in its session or conversation, for the same client and
-- scope.
SELECT asked.id AS of_id, beside.id AS node_id, beside.text, beside.occurred_at, beside.sequence,
  NULL::integer AS ordinal, beside.before
  FROM unnest(%(ids)s::uuid[], %(sessions)s::text[], %(sequences)s::bigint[], %(clients)s::text[],
    %(node_scopes)s::text[], %(node_labels)s::text[], %(parents)s::uuid[])
    AS asked (id, session_id, sequence, client_id, scope, label, parent_id)
 CROSS JOIN LATERAL (
   (SELECT n.id, n.text, n.occurred_at, n.sequence, true AS before FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.session_id = asked.session_id
       AND n.sequence < asked.sequence AND n.client_id = asked.client_id AND n.scope = asked.scope
       AND n.label = asked.label AND (n.label = 'Memory' OR n.parent_id = asked.parent_id)
       AND (n.label = 'Memory' OR NOT n.metadata @> '{"cairn": {"accepted": false}}')
       AND n.state NOT IN ('deleted', 'quarantined')
       AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
       AND (%(as_of_position)s::bigint IS NULL OR n.created_position <= %(as_of_position)s)
     ORDER BY n.sequence DESC LIMIT %(count)s)
   UNION ALL
   (SELECT n.id, n.text, n.occurred_at, n.sequence, false FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.session_id = asked.session_id
       AND n.sequence > asked.sequence AND n.client_id = asked.client_id AND n.scope = asked.scope
       AND n.label = asked.label AND (n.label = 'Memory' OR n.parent_id = asked.parent_id)
       AND (n.label = 'Memory' OR NOT n.metadata @> '{"cairn": {"accepted": false}}')
       AND n.state NOT IN ('deleted', 'quarantined')
       AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
       AND (%(as_of_position)s::bigint IS NULL OR n.created_position <= %(as_of_position)s)
     ORDER BY n.sequence LIMIT %(count)s)
 ) AS beside

-- name: neighbours_in_document
-- The chunks just before and after each result in its document.
SELECT asked.id AS of_id, beside.id AS node_id, beside.text, beside.occurred_at,
  NULL::bigint AS sequence, beside.ordinal, beside.before
  FROM unnest(%(ids)s::uuid[], %(documents)s::uuid[], %(ordinals)s::integer[]) AS asked (id, document_id, ordinal)
 CROSS JOIN LATERAL (
   (SELECT n.id, n.text, n.occurred_at, n.ordinal, true AS before FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.document_id = asked.document_id
       AND n.label = 'Chunk' AND n.ordinal < asked.ordinal AND n.state NOT IN ('deleted', 'quarantined')
       AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
       AND (%(as_of_position)s::bigint IS NULL OR n.created_position <= %(as_of_position)s)
     ORDER BY n.ordinal DESC LIMIT %(count)s)
   UNION ALL
   (SELECT n.id, n.text, n.occurred_at, n.ordinal, false FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.document_id = asked.document_id
       AND n.label = 'Chunk' AND n.ordinal > asked.ordinal AND n.state NOT IN ('deleted', 'quarantined')
       AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
       AND (%(as_of_position)s::bigint IS NULL OR n.created_position <= %(as_of_position)s)
     ORDER BY n.ordinal LIMIT %(count)s)
 ) AS beside
