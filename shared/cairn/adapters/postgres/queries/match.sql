-- name: near
-- Active intents of others in shared networks, near to a vector.
SELECT node_id, member_id, network_id, relevancy, score
  FROM meetings_near(%(vector)s::halfvec, %(model_id)s::smallint, %(minimum)s::real,
    %(limit)s::integer, %(sides)s::text[], %(networks)s::uuid[])

-- name: profiles_near
-- Profiles of others in shared networks, near to a vector.
SELECT node_id, member_id, network_id, 1.0::double precision AS relevancy, score
  FROM members_near(%(vector)s::halfvec, %(model_id)s::smallint, %(minimum)s::real,
    %(limit)s::integer, %(networks)s::uuid[])

-- name: of
-- Active intents of some others in shared networks.
SELECT node_id, member_id, network_id, relevancy, 1.0::real AS score
  FROM meetings_of(%(members)s::uuid[], %(networks)s::uuid[])

-- name: named_near
-- Those who were named, by their active intents, else by their profile, and how near each is to a vector.
SELECT node_id, member_id, network_id, relevancy, score
  FROM named_near(%(vector)s::halfvec, %(model_id)s::smallint, %(members)s::uuid[], %(faces)s::uuid[],
    %(sides)s::text[], %(networks)s::uuid[])

-- name: shown
-- What shared networks show of others' intents and profiles.
SELECT node_id, member_id, label, side, title, body AS text, shown, tokens
  FROM shown_texts(%(ids)s::uuid[], %(model_id)s::smallint)

-- name: own
-- The member's own intents and profile.
SELECT id, label, kind AS side, title, text, metadata FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label IN ('Intent', 'Member')
   AND state = 'active'

-- name: placed
-- The networks that an intent belongs to, and how far.
SELECT a.network_id, a.score FROM intent_network a
  JOIN intent i ON i.workspace_id = a.workspace_id AND i.id = a.intent_id AND i.state = 'active'
 WHERE a.workspace_id = %(workspace_id)s AND a.intent_id = %(id)s AND a.removed_at IS NULL

-- name: hyde
-- The hypothetical documents of an intent or a profile.
-- columns: cairn.discovery.matching.found.HydeRow
SELECT {columns} FROM hyde_document
 WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s ORDER BY lens

-- name: drop_hyde
-- Those of a text that has changed.
DELETE FROM hyde_document WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s

-- name: keep_hyde
-- A hypothetical document.
INSERT INTO hyde_document (workspace_id, source_id, member_id, lens, corpus, source_hash, made_by, body,
  made_at)
VALUES (%(workspace_id)s, %(source_id)s, %(member_id)s, %(lens)s, %(corpus)s, %(source_hash)s,
  %(made_by)s, %(body)s, %(made_at)s)
ON CONFLICT DO NOTHING

-- name: client_of
-- The client whose active intent it is.
SELECT m.client_id FROM intent i
  JOIN member m ON m.workspace_id = i.workspace_id AND m.id = i.member_id
 WHERE i.workspace_id = %(workspace_id)s AND i.id = %(id)s AND i.state = 'active'

-- name: discovered
-- That an intent was looked for.
UPDATE intent SET discovered_at = greatest(discovered_at, %(now)s), tries = 0, retry_at = NULL, problem = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: due
-- Active intents that belong somewhere and were not looked for since they changed: those that never
-- failed first, of them the oldest.
-- It has its vector by then, so that of two new ones the search of the later finds the other.
SELECT i.id FROM intent i
 WHERE i.workspace_id = %(workspace_id)s AND i.state = 'active'
   AND (i.expires_at IS NULL OR i.expires_at > %(now)s)
   AND (i.discovered_at IS NULL OR i.discovered_at < i.changed_at)
   AND (i.retry_at IS NULL OR i.retry_at <= %(now)s)
   AND EXISTS (SELECT FROM intent_network a WHERE a.workspace_id = i.workspace_id
     AND a.intent_id = i.id AND a.removed_at IS NULL)
   AND EXISTS (SELECT FROM embedding e WHERE e.workspace_id = i.workspace_id AND e.node_id = i.id)
 ORDER BY i.tries, i.changed_at LIMIT %(limit)s
