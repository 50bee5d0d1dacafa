-- name: find
-- An opportunity.
-- columns: cairn.discovery.matching.rows.OpportunityRow
SELECT {columns} FROM opportunity WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: by_pair
-- Those that there are of some pairs.
-- columns: cairn.discovery.matching.rows.OpportunityRow
SELECT {columns} FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND pair = ANY (%(pairs)s)

-- name: of
-- Those that somebody has a part in, in some states when asked for, the newest first.
-- columns: cairn.discovery.matching.rows.OpportunityRow
SELECT {columns} FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND id = ANY (ARRAY(
     SELECT s.id FROM opportunity s
      WHERE s.workspace_id = %(workspace_id)s AND s.source_id = %(member_id)s
     UNION ALL SELECT t.id FROM opportunity t
      WHERE t.workspace_id = %(workspace_id)s AND t.target_id = %(member_id)s
     UNION ALL SELECT i.id FROM opportunity i
      WHERE i.workspace_id = %(workspace_id)s AND i.introducer_id = %(member_id)s))
   AND (%(states)s::text[] IS NULL OR state = ANY (%(states)s))
 ORDER BY id DESC LIMIT %(limit)s

-- name: all
-- Everybody's, in some states when asked for, the newest first.
-- columns: cairn.discovery.matching.rows.OpportunityRow
SELECT {columns} FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
   AND (%(states)s::text[] IS NULL OR state = ANY (%(states)s))
 ORDER BY id DESC LIMIT %(limit)s

-- name: add
-- An opportunity; nothing when there is one of its pair.
INSERT INTO opportunity (workspace_id, id, pair, network_id, source_id, target_id, introducer_id,
  source_intent, target_intent, source_role, target_role, score, trigger, state, data_subjects, body,
  created_at, changed_at, expires_at, source_yes_at, target_yes_at, target_found_at)
VALUES (%(workspace_id)s, %(id)s, %(pair)s, %(network_id)s, %(source_id)s, %(target_id)s,
  %(introducer_id)s, %(source_intent)s, %(target_intent)s, %(source_role)s, %(target_role)s, %(score)s,
  %(trigger)s, %(state)s, %(data_subjects)s, %(body)s, %(created_at)s, %(changed_at)s, %(expires_at)s,
  %(source_yes_at)s, %(target_yes_at)s, %(target_found_at)s)
ON CONFLICT DO NOTHING

-- name: move
-- Move one on from the state it was seen in; nothing when something else has moved it meanwhile.
UPDATE opportunity SET state = %(to)s, changed_at = %(now)s, tries = 0, retry_at = NULL, problem = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = %(state)s

-- name: say_yes
-- That one of the two wants it, once.
UPDATE opportunity
   SET source_yes_at = CASE WHEN source_id = %(member_id)s THEN %(now)s ELSE source_yes_at END,
       target_yes_at = CASE WHEN target_id = %(member_id)s THEN %(now)s ELSE target_yes_at END,
       changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s
   AND (source_id = %(member_id)s AND source_yes_at IS NULL
     OR target_id = %(member_id)s AND target_yes_at IS NULL)

-- name: find_too
-- That the search of the other one of the two found them, too.
UPDATE opportunity SET target_found_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND target_id = %(member_id)s
   AND target_found_at IS NULL

-- name: note
-- A state that one has from now on.
INSERT INTO opportunity_change (workspace_id, opportunity_id, seq, state, actor, position, changed_at)
SELECT %(workspace_id)s, %(id)s, coalesce(max(seq), 0) + 1, %(state)s, %(actor)s::uuid, %(position)s,
  %(now)s
  FROM opportunity_change WHERE workspace_id = %(workspace_id)s AND opportunity_id = %(id)s

-- name: changes
-- The states that one had, in order.
-- columns: cairn.discovery.matching.rows.ChangeRow
SELECT {columns} FROM opportunity_change
 WHERE workspace_id = %(workspace_id)s AND opportunity_id = %(id)s ORDER BY seq

-- name: due
-- Open ones whose time is over.
-- columns: cairn.discovery.matching.rows.OpportunityRow
SELECT {columns} FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND expires_at <= %(now)s
   AND state NOT IN ('accepted', 'rejected', 'expired') AND (retry_at IS NULL OR retry_at <= %(now)s)
 ORDER BY tries, expires_at LIMIT %(limit)s

-- name: negotiable
-- Latent ones of discovery, whose two share their network and have active intents.
SELECT o.id, o.trigger FROM opportunity o
 WHERE o.workspace_id = %(workspace_id)s AND o.state = 'latent'
   AND o.trigger IN ('ambient', 'orchestrator') AND o.expires_at > %(now)s
   AND (o.retry_at IS NULL OR o.retry_at <= %(now)s)
   AND (SELECT count(*) FROM network_member nm
     WHERE nm.workspace_id = o.workspace_id AND nm.network_id = o.network_id AND nm.left_at IS NULL
       AND nm.member_id IN (o.source_id, o.target_id)) = 2
   AND NOT EXISTS (SELECT FROM intent i
     WHERE i.workspace_id = o.workspace_id AND i.id IN (o.source_intent, o.target_intent)
       AND (i.state <> 'active' OR i.expires_at <= %(now)s))
 ORDER BY o.tries, o.created_at, o.id LIMIT %(limit)s

-- name: shown_since
-- How often somebody was found for others since a moment.
SELECT target_id, count(*)::integer AS times FROM opportunity
 WHERE workspace_id = %(workspace_id)s AND target_id = ANY (%(ids)s) AND created_at >= %(since)s
 GROUP BY target_id

-- name: states_then
-- The states that some had at a moment; those that were not there yet are left out.
SELECT DISTINCT ON (opportunity_id) opportunity_id AS id, state FROM opportunity_change
 WHERE workspace_id = %(workspace_id)s AND opportunity_id = ANY (%(ids)s) AND changed_at <= %(moment)s
 ORDER BY opportunity_id, seq DESC
