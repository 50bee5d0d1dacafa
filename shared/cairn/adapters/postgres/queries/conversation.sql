-- name: find
-- The conversation of an identity, which its audience is part of.
SELECT id, data_subjects FROM node
 WHERE workspace_id = %(workspace_id)s AND dedup_key = %(identity)s AND label = 'Conversation'
   AND state IN ('active', 'provisional')

-- name: drawn
-- The number of the last message of a conversation that a model drew memories from.
SELECT coalesce((metadata #>> '{cairn,drawn}')::integer, 0) FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND label = 'Conversation'

-- name: last
-- The last messages of a conversation, newest first.
SELECT id, sequence, text, occurred_at, data_subjects FROM node
 WHERE workspace_id = %(workspace_id)s AND parent_id = %(conversation_id)s AND label = 'Message'
   AND state IN ('active', 'provisional')
 ORDER BY sequence DESC LIMIT %(limit)s

-- name: said
-- What was said in a conversation, in its order; what is held back was said, too.
SELECT id, kind AS role, metadata #>> '{cairn,sender}' AS sender, content_hash, occurred_at,
  data_subjects
  FROM node
 WHERE workspace_id = %(workspace_id)s AND parent_id = %(conversation_id)s AND label = 'Message'
 ORDER BY sequence

-- name: exists
-- Whether a conversation is seen, or waits under this id.
SELECT EXISTS (SELECT FROM node
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND label = 'Conversation'
      AND state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}'))))
  OR EXISTS (SELECT FROM pending_message
    WHERE workspace_id = %(workspace_id)s AND conversation_id = %(id)s)

-- name: pending
-- What waits under an identity and has not expired.
SELECT id, conversation_id, identity, sequence, by_user, data_subjects, body, created_at, expires_at
  FROM pending_message
 WHERE workspace_id = %(workspace_id)s AND identity = %(identity)s AND expires_at > %(now)s
 ORDER BY sequence

-- name: wait
-- Let a message wait for its conversation.
INSERT INTO pending_message (workspace_id, id, conversation_id, identity, sequence, by_user,
  data_subjects, body, created_at, expires_at)
VALUES (%(workspace_id)s, %(id)s, %(conversation_id)s, %(identity)s, %(sequence)s, %(by_user)s,
  %(data_subjects)s, %(body)s, %(created_at)s, %(expires_at)s)

-- name: settle
-- Nothing waits under an identity any more.
DELETE FROM pending_message WHERE workspace_id = %(workspace_id)s AND identity = %(identity)s

-- name: drop_expired
-- Messages of any workspace whose conversation never came about.
SELECT drop_expired_messages(%(now)s)

-- name: public_keys
-- The public keys that are not revoked.
SELECT k.id FROM api_key k
  JOIN principal p ON p.workspace_id = k.workspace_id AND p.id = k.principal_id
 WHERE k.workspace_id = %(workspace_id)s AND p.role = 'public' AND k.revoked_at IS NULL

-- name: bound_to
-- The conversation a key was bound to.
SELECT conversation_id FROM key_conversation
 WHERE workspace_id = %(workspace_id)s AND key_id = %(key_id)s

-- name: keys_of
-- The keys that were bound to a conversation.
SELECT key_id FROM key_conversation
 WHERE workspace_id = %(workspace_id)s AND conversation_id = %(conversation_id)s
 ORDER BY position

-- name: bind
-- Bind a key to a conversation, for good.
INSERT INTO key_conversation (workspace_id, key_id, conversation_id, position)
VALUES (%(workspace_id)s, %(key_id)s, %(conversation_id)s, %(position)s)
ON CONFLICT DO NOTHING

-- name: own
-- The conversation of the public key that asks.
SELECT own_conversation()

-- name: one
-- A conversation as its reader may see it: a public key its own, an agent what is tagged for it.
SELECT c.id, c.created_position AS position, c.kind AS channel, c.session_id, c.client_id, c.scope,
  coalesce(c.agents, '{}') AS agents, c.source_agent, c.occurred_at AS opened_at, c.recorded_at,
  coalesce((c.metadata #>> '{cairn,infer}')::boolean, true) AS infer,
  m.messages, m.last_message_at
  FROM node c
 CROSS JOIN LATERAL (
   SELECT count(*)::integer AS messages, max(n.occurred_at) AS last_message_at FROM node n
    WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = c.id AND n.label = 'Message'
      AND n.state IN ('active', 'provisional')) AS m
 WHERE c.workspace_id = %(workspace_id)s AND c.id = %(id)s AND c.label = 'Conversation'
   AND c.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(c.agents, '{""}'))
     OR c.id = own_conversation())

-- name: list
-- Conversations under the same terms, newest first.
SELECT c.id, c.created_position AS position, c.kind AS channel, c.session_id, c.client_id, c.scope,
  coalesce(c.agents, '{}') AS agents, c.source_agent, c.occurred_at AS opened_at, c.recorded_at,
  coalesce((c.metadata #>> '{cairn,infer}')::boolean, true) AS infer,
  m.messages, m.last_message_at
  FROM (SELECT * FROM node n
         WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Conversation'
           AND n.state IN ('active', 'provisional')
           AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}'))
             OR n.id = own_conversation())
           AND (%(channel)s::text IS NULL OR n.kind = %(channel)s)
           AND (%(session_id)s::text IS NULL OR n.session_id = %(session_id)s)
           AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
           AND (%(agent)s::text IS NULL OR n.source_agent = %(agent)s OR %(agent)s = ANY (n.agents))
           AND (%(opened_from)s::timestamptz IS NULL OR n.occurred_at >= %(opened_from)s)
           AND (%(opened_to)s::timestamptz IS NULL OR n.occurred_at < %(opened_to)s)
           AND (%(sender)s::text IS NULL OR EXISTS (SELECT FROM node s
             WHERE s.workspace_id = n.workspace_id AND s.parent_id = n.id AND s.label = 'Message'
               AND s.state IN ('active', 'provisional')
               AND s.metadata #>> '{cairn,sender}' = %(sender)s))
           AND (%(after)s::bigint IS NULL OR n.created_position < %(after)s)
         ORDER BY n.created_position DESC LIMIT %(limit)s) AS c
 CROSS JOIN LATERAL (
   SELECT count(*)::integer AS messages, max(n.occurred_at) AS last_message_at FROM node n
    WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = c.id AND n.label = 'Message'
      AND n.state IN ('active', 'provisional')) AS m
 ORDER BY c.created_position DESC

-- name: messages
-- The messages of a conversation in their order.
SELECT id, created_position AS position, parent_id AS conversation_id, kind AS role,
  text AS content, sequence, occurred_at AS timestamp, recorded_at, session_id, source_agent,
  metadata
  FROM node
 WHERE workspace_id = %(workspace_id)s AND parent_id = %(conversation_id)s AND label = 'Message'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}'))
     OR parent_id = own_conversation())
   AND created_position > %(after)s
 ORDER BY created_position LIMIT %(limit)s

-- name: memories
-- What was drawn from messages of one session, as their reader may see it.
SELECT id, parent_id AS message_id, kind, text, state FROM node
 WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND label = 'Memory'
   AND conversation_id = %(conversation_id)s AND parent_id = ANY (%(message_ids)s)
   AND state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
 ORDER BY created_position

-- name: latest
-- The last messages of a conversation, the newest first.
SELECT id, created_position AS position, parent_id AS conversation_id, kind AS role,
  text AS content, sequence, occurred_at AS timestamp, recorded_at, session_id, source_agent,
  metadata
  FROM node
 WHERE workspace_id = %(workspace_id)s AND parent_id = %(conversation_id)s AND label = 'Message'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}'))
     OR parent_id = own_conversation())
 ORDER BY created_position DESC LIMIT %(limit)s

-- name: messages_by_id
-- Found messages as their reader may see them.
SELECT id, created_position AS position, parent_id AS conversation_id, kind AS role,
  text AS content, sequence, occurred_at AS timestamp, recorded_at, session_id, source_agent,
  metadata
  FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label = 'Message'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}'))
     OR parent_id = own_conversation())

-- name: near_in_one
-- The messages of one conversation near a vector: it is small, so each is compared.
SELECT n.id, (1 - min(e.v <=> %(vector)s::halfvec))::real AS score
  FROM node n
  JOIN embedding e ON e.workspace_id = n.workspace_id AND e.node_id = n.id
   AND e.model_id = %(model_id)s::smallint
 WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = %(conversation_id)s
   AND n.label = 'Message' AND n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}'))
     OR n.parent_id = own_conversation())
   AND (%(roles)s::text[] IS NULL OR n.kind = ANY (%(roles)s))
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
 GROUP BY n.id HAVING 1 - min(e.v <=> %(vector)s::halfvec) >= %(minimum)s::real
 ORDER BY score DESC, n.id LIMIT %(limit)s

-- name: said_in_one
-- The messages of one conversation with any of the words.
SELECT n.id, ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, asked.words) AS score
  FROM (SELECT string_agg(lexemes::text, ' | ')::tsquery AS words
          FROM unnest(%(terms)s::text[]) AS term, word_query(term, %(language)s::text) AS lexemes
         WHERE lexemes::text <> '') AS asked
  JOIN node n ON n.search_tsv @@ asked.words
 WHERE n.workspace_id = %(workspace_id)s AND n.parent_id = %(conversation_id)s
   AND n.label = 'Message' AND n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}'))
     OR n.parent_id = own_conversation())
   AND (%(roles)s::text[] IS NULL OR n.kind = ANY (%(roles)s))
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
 ORDER BY score DESC, n.id LIMIT %(limit)s
