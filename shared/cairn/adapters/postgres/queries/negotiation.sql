-- name: begin
-- A negotiation that begins; nothing when its opportunity has one.
INSERT INTO negotiation (workspace_id, id, opportunity_id, network_id, source_id, candidate_id,
  source_intent, candidate_intent, source_role, candidate_role, score, trigger, state, cap, speaker,
  head, deadline, data_subjects, begun_at, changed_at)
VALUES (%(workspace_id)s, %(id)s, %(opportunity_id)s, %(network_id)s, %(source_id)s,
  %(candidate_id)s, %(source_intent)s, %(candidate_intent)s, %(source_role)s, %(candidate_role)s,
  %(score)s, %(trigger)s, %(state)s, %(cap)s, %(speaker)s, %(head)s, %(deadline)s, %(data_subjects)s,
  %(begun_at)s, %(changed_at)s)
ON CONFLICT DO NOTHING

-- name: find
-- A negotiation.
-- columns: cairn.discovery.negotiation.rows.NegotiationRow
SELECT {columns} FROM negotiation WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: of_opportunity
-- The negotiation about an opportunity.
-- columns: cairn.discovery.negotiation.rows.NegotiationRow
SELECT {columns} FROM negotiation
 WHERE workspace_id = %(workspace_id)s AND opportunity_id = %(opportunity_id)s

-- name: of_opportunities
-- The negotiations about some opportunities.
-- columns: cairn.discovery.negotiation.rows.NegotiationRow
SELECT {columns} FROM negotiation
 WHERE workspace_id = %(workspace_id)s AND opportunity_id = ANY (%(ids)s)

-- name: page
-- Negotiations that the reader sees, the newest first; `waiting_for` are those where it is a member's turn.
-- columns: cairn.discovery.negotiation.rows.NegotiationRow
SELECT {columns} FROM negotiation
 WHERE workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(state)s::text IS NULL OR state = %(state)s)
   AND (%(member_id)s::uuid IS NULL OR %(member_id)s IN (source_id, candidate_id))
   AND (%(waiting_for)s::uuid IS NULL OR state = 'open'
     AND %(waiting_for)s = CASE speaker WHEN 'source' THEN source_id ELSE candidate_id END)
 ORDER BY id DESC LIMIT %(limit)s

-- name: takeable
-- A turn that a member's agent may take up now: the one whose time is over first.
-- columns: cairn.discovery.negotiation.rows.NegotiationRow
SELECT {columns} FROM negotiation
 WHERE workspace_id = %(workspace_id)s AND state = 'open' AND deadline > %(now)s
   AND %(member_id)s = CASE speaker WHEN 'source' THEN source_id ELSE candidate_id END
   AND %(member_id)s IN (source_id, candidate_id)
   AND (claim IS NULL OR claim_until <= %(now)s OR claim = %(claim)s::uuid)
 ORDER BY deadline, id LIMIT 1

-- name: due
-- Negotiations that go on by themselves by now; those that never failed first.
-- columns: cairn.discovery.negotiation.rows.NegotiationRow
SELECT {columns} FROM negotiation
 WHERE workspace_id = %(workspace_id)s AND state <> 'ended' AND deadline <= %(now)s
   AND (retry_at IS NULL OR retry_at <= %(now)s)
 ORDER BY tries, deadline LIMIT %(limit)s

-- name: move
-- Move a negotiation on from where it was seen; nothing when something else has moved it meanwhile.
UPDATE negotiation SET state = %(state)s, outcome = %(outcome)s, seq = %(seq)s, speaker = %(speaker)s,
  head = %(head)s, undecided = %(undecided)s, fit_total = %(fit_total)s, fit_count = %(fit_count)s,
  source_role = %(source_role)s, candidate_role = %(candidate_role)s, claim = %(claim)s,
  people_asked = %(people_asked)s, claimed_by = %(claimed_by)s, claim_until = %(claim_until)s,
  deadline = %(deadline)s, changed_at = %(changed_at)s, ended_at = %(ended_at)s, version = version + 1,
  tries = 0, retry_at = NULL, problem = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND version = %(version)s

-- name: fail
-- Note a turn that failed: it is none.
UPDATE negotiation SET failures = failures + 1, failure = %(code)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state <> 'ended'

-- name: sides
-- The members of a negotiation as they are now: in the network, with intents that are active.
-- columns: cairn.discovery.negotiation.rows.SideRow
SELECT m.id, m.client_id,
  EXISTS (SELECT 1 FROM network_member nm
    WHERE nm.workspace_id = m.workspace_id AND nm.network_id = n.network_id AND nm.member_id = m.id
      AND nm.left_at IS NULL) AS in_network,
  NOT EXISTS (SELECT 1 FROM intent i
    WHERE i.workspace_id = m.workspace_id AND i.member_id = m.id
      AND i.id IN (n.source_intent, n.candidate_intent)
      AND (i.state <> 'active' OR i.expires_at <= %(now)s)) AS intents_active
  FROM negotiation n JOIN member m ON m.workspace_id = n.workspace_id
   AND m.id IN (n.source_id, n.candidate_id)
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s

-- name: say
-- Keep a turn.
INSERT INTO negotiation_turn (workspace_id, negotiation_id, seq, id, header, signature, public_key,
  position, data_subjects, body, said_at)
VALUES (%(workspace_id)s, %(negotiation_id)s, %(seq)s, %(id)s, %(header)s, %(signature)s,
  %(public_key)s, %(position)s, %(data_subjects)s, %(body)s, %(said_at)s)
ON CONFLICT DO NOTHING

-- name: turns
-- The turns of negotiations, in order.
-- columns: cairn.discovery.negotiation.rows.TurnRow
SELECT {columns} FROM negotiation_turn
 WHERE workspace_id = %(workspace_id)s AND negotiation_id = ANY (%(ids)s) ORDER BY negotiation_id, seq

-- name: keep_private
-- Keep what one side alone reads.
INSERT INTO negotiation_private (workspace_id, negotiation_id, id, member_id, seq, kind, data_subjects,
  body, asked_at, answered_at)
VALUES (%(workspace_id)s, %(negotiation_id)s, %(id)s, %(member_id)s, %(seq)s, %(kind)s,
  %(data_subjects)s, %(body)s, %(asked_at)s, %(answered_at)s)
ON CONFLICT DO NOTHING

-- name: private
-- What one side alone reads, in order.
-- columns: cairn.discovery.negotiation.rows.PrivateRow
SELECT {columns} FROM negotiation_private
 WHERE workspace_id = %(workspace_id)s AND negotiation_id = %(id)s AND member_id = %(member_id)s
 ORDER BY asked_at, id

-- name: answer
-- Take the answer to a question; nothing when it has one.
UPDATE negotiation_private SET body = %(body)s, answered_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND kind = 'question' AND answered_at IS NULL

-- name: agents
-- The agents that members bring.
-- columns: cairn.discovery.negotiation.rows.NegotiatorRow
SELECT {columns} FROM negotiator
 WHERE workspace_id = %(workspace_id)s AND member_id = ANY (%(ids)s) ORDER BY member_id, agent

-- name: see_agent
-- An agent that asks for a turn.
INSERT INTO negotiator (workspace_id, member_id, agent, seen_at, takeover)
VALUES (%(workspace_id)s, %(member_id)s, %(agent)s, %(now)s, coalesce(%(takeover)s::boolean, true))
ON CONFLICT (workspace_id, member_id, agent) DO UPDATE
  SET seen_at = EXCLUDED.seen_at, takeover = coalesce(%(takeover)s::boolean, negotiator.takeover)

-- name: give_key
-- The public key of an agent; another one replaces it, for turns to come.
INSERT INTO negotiator (workspace_id, member_id, agent, public_key)
VALUES (%(workspace_id)s, %(member_id)s, %(agent)s, %(public_key)s)
ON CONFLICT (workspace_id, member_id, agent) DO UPDATE SET public_key = EXCLUDED.public_key

-- name: shown
-- What stands in a side's own nodes: an intent, the profile.
SELECT id, label, kind, title, text, metadata FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label IN ('Intent', 'Member')
   AND deleted_at IS NULL

-- name: memories
-- What a member's memories say, those that matter most first. Read in their own confines alone.
SELECT id, text FROM node
 WHERE workspace_id = %(workspace_id)s AND client_id = current_client() AND label = 'Memory'
   AND state = 'active'
 ORDER BY importance DESC, created_position DESC, id DESC LIMIT %(limit)s

-- name: counted
-- How many negotiations ended how, and how many at once with a yes.
SELECT count(*) FILTER (WHERE state = 'ended')::integer AS ended,
  count(*) FILTER (WHERE outcome = 'accepted')::integer AS accepted,
  count(*) FILTER (WHERE outcome = 'accepted' AND seq = 2)::integer AS instant
  FROM negotiation WHERE workspace_id = %(workspace_id)s
