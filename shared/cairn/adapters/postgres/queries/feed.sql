-- name: cached
-- What was worded for a member since a moment.
-- columns: cairn.discovery.feed.rows.CachedRow
SELECT {columns} FROM feed_wording
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s AND made_at > %(since)s

-- name: keep
-- Words in the place of those before.
INSERT INTO feed_wording (workspace_id, id, member_id, subject_id, version, data_subjects, body, made_at)
VALUES (%(workspace_id)s, %(id)s, %(member_id)s, %(subject_id)s, %(version)s, %(data_subjects)s,
  %(body)s, %(made_at)s)
ON CONFLICT (workspace_id, member_id, subject_id) DO UPDATE
  SET id = EXCLUDED.id, version = EXCLUDED.version, data_subjects = EXCLUDED.data_subjects,
      body = EXCLUDED.body, made_at = EXCLUDED.made_at

-- name: drop
-- Words that are too old to be used.
DELETE FROM feed_wording WHERE workspace_id = %(workspace_id)s AND made_at <= %(before)s

-- name: counts
-- What is in the feeds of some members, by kind, and when they were last looked for.
SELECT m.id AS member_id,
  (count(o.id) FILTER (WHERE o.state NOT IN ('rejected', 'expired') AND o.introducer_id IS NULL))::integer
    AS connections,
  (count(o.id) FILTER (WHERE o.state NOT IN ('rejected', 'expired') AND o.introducer_id IS NOT NULL))::integer
    AS introductions,
  (count(o.id) FILTER (WHERE o.state = 'expired' AND o.changed_at > %(since)s))::integer AS expired,
  (SELECT max(i.discovered_at) FROM intent i
    WHERE i.workspace_id = %(workspace_id)s AND i.member_id = m.id AND i.state = 'active') AS discovered_at
  FROM unnest(%(ids)s::uuid[]) AS m (id)
  LEFT JOIN LATERAL (
    SELECT s.id, s.state, s.introducer_id, s.changed_at FROM opportunity s
     WHERE s.workspace_id = %(workspace_id)s AND s.source_id = m.id
    UNION
    SELECT t.id, t.state, t.introducer_id, t.changed_at FROM opportunity t
     WHERE t.workspace_id = %(workspace_id)s AND t.target_id = m.id
       AND (t.state IN ('pending', 'accepted', 'rejected') OR t.target_found_at IS NOT NULL)
  ) o ON true
 GROUP BY m.id

-- name: members_due
-- Members with active intents whose feed was not looked at since a moment, the oldest look first.
SELECT p.id FROM (
  SELECT DISTINCT i.member_id AS id FROM intent i
   WHERE i.workspace_id = %(workspace_id)s AND i.state = 'active'
) p LEFT JOIN feed_health h ON h.workspace_id = %(workspace_id)s AND h.member_id = p.id
 WHERE h.looked_at IS NULL OR h.looked_at <= %(before)s
 ORDER BY h.looked_at NULLS FIRST, p.id LIMIT %(limit)s

-- name: health
-- How a member's feed did when it was looked at last.
-- columns: cairn.discovery.feed.rows.HealthRow
SELECT {columns} FROM feed_health WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s

-- name: looked_at
-- How a feed does, in the place of what was before.
INSERT INTO feed_health (workspace_id, member_id, score, connections, introductions, expired, looked_at,
  rediscovered_at, intents, introduced)
VALUES (%(workspace_id)s, %(member_id)s, %(score)s, %(connections)s, %(introductions)s, %(expired)s,
  %(looked_at)s, %(rediscovered_at)s, %(intents)s, %(introduced)s)
ON CONFLICT (workspace_id, member_id) DO UPDATE
  SET score = EXCLUDED.score, connections = EXCLUDED.connections, introductions = EXCLUDED.introductions,
      expired = EXCLUDED.expired, looked_at = EXCLUDED.looked_at, intents = EXCLUDED.intents,
      rediscovered_at = coalesce(EXCLUDED.rediscovered_at, feed_health.rediscovered_at)

-- name: contacts_due
-- Members whose feed is poor and whose contacts were not looked at since a moment, the oldest look first.
SELECT member_id FROM feed_health
 WHERE workspace_id = %(workspace_id)s AND score < %(below)s
   AND (contacts_at IS NULL OR contacts_at <= %(before)s)
 ORDER BY contacts_at NULLS FIRST, member_id LIMIT %(limit)s

-- name: take_contacts
-- That a member's contacts are looked at now; nothing where somebody else does.
UPDATE feed_health SET contacts_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s
   AND (contacts_at IS NULL OR contacts_at <= %(before)s)

-- name: introduced
-- How many pairs of a member's contacts were proposed to each other.
UPDATE feed_health SET introduced = %(introduced)s
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s

-- name: waiting
-- How many intents wait to be looked for, as far as it matters.
SELECT count(*)::integer FROM (
  SELECT 1 FROM intent i
   WHERE i.workspace_id = %(workspace_id)s AND i.state = 'active'
     AND (i.discovered_at IS NULL OR i.discovered_at < i.changed_at)
     AND EXISTS (SELECT FROM intent_network a WHERE a.workspace_id = i.workspace_id
       AND a.intent_id = i.id AND a.removed_at IS NULL)
   LIMIT 1000
) w

-- name: rediscover
-- Active intents of a member that are to be looked for again, those looked for longest ago first.
UPDATE intent SET discovered_at = NULL
 WHERE workspace_id = %(workspace_id)s AND id IN (
   SELECT i.id FROM intent i
    WHERE i.workspace_id = %(workspace_id)s AND i.member_id = %(member_id)s AND i.state = 'active'
      AND i.discovered_at <= %(before)s
    ORDER BY i.discovered_at LIMIT %(limit)s)
