-- name: find
-- A network that was not removed.
-- columns: cairn.discovery.networks.rows.NetworkRow
SELECT {columns} FROM network
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND removed_at IS NULL

-- name: add
-- A new network; nothing when its id is taken.
INSERT INTO network (workspace_id, id, name, prompt, join_policy, owner_id, version, created_at,
  changed_at)
VALUES (%(workspace_id)s, %(id)s, %(name)s, %(prompt)s, %(join_policy)s, %(owner_id)s, %(version)s,
  %(created_at)s, %(changed_at)s)
ON CONFLICT DO NOTHING

-- name: change
-- A network as it is from now on; nothing when it is not as it was seen.
UPDATE network SET name = %(name)s, prompt = %(prompt)s, join_policy = %(join_policy)s,
  version = %(version)s, changed_at = %(changed_at)s, removed_at = %(removed_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND version = %(version)s - 1
   AND removed_at IS NULL

-- name: page
-- Networks that may be seen, the newest first; those of a member alone when one is named, as they
-- were in them at a moment.
-- columns: cairn.discovery.networks.rows.NetworkRow
SELECT {n.columns} FROM network n
 WHERE n.workspace_id = %(workspace_id)s AND (%(before)s::uuid IS NULL OR n.id < %(before)s)
   AND (n.removed_at IS NULL OR n.removed_at > %(moment)s::timestamptz)
   AND (%(member_id)s::uuid IS NULL OR EXISTS (SELECT 1 FROM network_member nm
     WHERE nm.workspace_id = n.workspace_id AND nm.network_id = n.id AND nm.member_id = %(member_id)s
       AND CASE WHEN %(moment)s::timestamptz IS NULL THEN nm.left_at IS NULL
         ELSE nm.joined_at <= %(moment)s AND coalesce(nm.left_at > %(moment)s, true) END))
 ORDER BY n.id DESC LIMIT %(limit)s

-- name: counts
-- How many are in each of these.
SELECT network_id, members FROM count_members(%(ids)s)

-- name: place
-- A member's present place in a network.
-- columns: cairn.discovery.networks.rows.PlaceRow
SELECT {columns} FROM network_member
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND member_id = %(member_id)s AND left_at IS NULL

-- name: places_of
-- Where a member is now.
-- columns: cairn.discovery.networks.rows.PlaceRow
SELECT {columns} FROM network_member
 WHERE workspace_id = %(workspace_id)s AND member_id = %(member_id)s AND left_at IS NULL
 ORDER BY joined_at, network_id

-- name: members
-- Who is in a network, or was at a moment, in the order of their ids.
-- columns: cairn.discovery.networks.rows.PlaceRow
SELECT {columns} FROM network_member
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND (%(before)s::uuid IS NULL OR member_id < %(before)s)
   AND CASE WHEN %(moment)s::timestamptz IS NULL THEN left_at IS NULL
     ELSE joined_at <= %(moment)s AND coalesce(left_at > %(moment)s, true) END
 ORDER BY member_id DESC LIMIT %(limit)s

-- name: join
-- A member's place in a network; nothing when they have one.
INSERT INTO network_member (workspace_id, network_id, member_id, role, prompt, joined_at, judge_since)
VALUES (%(workspace_id)s, %(network_id)s, %(member_id)s, %(role)s, %(prompt)s, %(joined_at)s,
  %(joined_at)s)
ON CONFLICT DO NOTHING

-- name: leave
-- A member's place ends.
UPDATE network_member SET left_at = %(moment)s, judge_since = NULL
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND member_id = %(member_id)s AND left_at IS NULL

-- name: leave_intents
-- What they had there belongs there no longer.
UPDATE intent_network SET removed_at = %(moment)s
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND member_id = %(member_id)s AND removed_at IS NULL

-- name: set_prompt
-- What of theirs belongs there, which is judged anew.
UPDATE network_member SET prompt = %(prompt)s, judge_since = %(moment)s
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND member_id = %(member_id)s AND left_at IS NULL

-- name: judge_all
-- What everybody has there is to be judged anew.
UPDATE network_member SET judge_since = %(moment)s
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s AND left_at IS NULL

-- name: to_judge
-- Whose intents are to be judged anew, those who wait longest first.
-- columns: cairn.discovery.networks.rows.PlaceRow
SELECT {columns}, judge_since FROM network_member
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s AND left_at IS NULL
   AND judge_since IS NOT NULL
 ORDER BY judge_since, member_id LIMIT %(limit)s

-- name: judged
-- They were; nothing when they are to be again meanwhile.
UPDATE network_member SET judge_since = NULL
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND member_id = %(member_id)s AND left_at IS NULL AND judge_since = %(seen)s

-- name: intents
-- Intents that may belong to a network: those of a member, or one.
-- columns: cairn.discovery.networks.rows.IntentText
SELECT i.id, i.member_id, n.text FROM intent i
  JOIN node n ON n.workspace_id = i.workspace_id AND n.id = i.id
 WHERE i.workspace_id = %(workspace_id)s AND i.state IN ('active', 'paused')
   AND (%(intent_id)s::uuid IS NULL OR i.id = %(intent_id)s)
   AND (%(members)s::uuid[] IS NULL OR i.member_id = ANY (%(members)s))
 ORDER BY i.member_id, i.id

-- name: assigned
-- Where intents belong now.
-- columns: cairn.discovery.networks.rows.AssignmentRow
SELECT {columns} FROM intent_network
 WHERE workspace_id = %(workspace_id)s AND intent_id = ANY (%(intents)s) AND removed_at IS NULL
 ORDER BY intent_id, network_id

-- name: assign
-- An intent belongs to a network; nothing when it does already.
INSERT INTO intent_network (workspace_id, network_id, intent_id, member_id, score, direct, assigned_at)
VALUES (%(workspace_id)s, %(network_id)s, %(intent_id)s, %(member_id)s, %(score)s, %(direct)s,
  %(assigned_at)s)
ON CONFLICT DO NOTHING

-- name: rescore
-- How far it belongs there.
UPDATE intent_network SET score = %(score)s, direct = %(direct)s
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND intent_id = %(intent_id)s AND removed_at IS NULL

-- name: unassign
-- It belongs there no longer.
UPDATE intent_network SET removed_at = %(moment)s
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND intent_id = %(intent_id)s AND removed_at IS NULL

-- name: shown_members
-- What shared networks show of members.
-- columns: cairn.discovery.networks.rows.ShownMember
SELECT {columns} FROM shown_members(%(members)s, %(faces)s)

-- name: shown_intents
-- The active intents that networks show.
-- columns: cairn.discovery.networks.rows.ShownIntent
SELECT {columns} FROM shown_intents(%(networks)s, %(owner)s, %(before)s, %(limit)s)

-- name: invite
-- An invite, of which the hash of its token is kept.
INSERT INTO network_invite (workspace_id, id, network_id, token_hash, made_by, ghost_id, created_at,
  expires_at)
VALUES (%(workspace_id)s, %(id)s, %(network_id)s, %(token_hash)s, %(made_by)s, %(ghost_id)s,
  %(created_at)s, %(expires_at)s)
ON CONFLICT DO NOTHING

-- name: invites
-- Invites to a network that may be seen, the newest first.
-- columns: cairn.discovery.networks.rows.InviteRow
SELECT {columns} FROM network_invite
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s
   AND (%(before)s::uuid IS NULL OR id < %(before)s)
 ORDER BY id DESC LIMIT %(limit)s

-- name: revoke
-- An invite lets nobody in any more; nothing when it was used or withdrawn.
UPDATE network_invite SET revoked_at = %(moment)s
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s AND id = %(id)s
   AND used_at IS NULL AND revoked_at IS NULL

-- name: open_invites
-- How many invites to a network may still be used.
SELECT count(*)::integer FROM network_invite
 WHERE workspace_id = %(workspace_id)s AND network_id = %(network_id)s AND used_at IS NULL
   AND revoked_at IS NULL AND expires_at > %(moment)s

-- name: take
-- Take an invite: the network it lets into; nothing when it lets nobody in.
SELECT take_invite(%(token_hash)s, %(member_id)s, %(moment)s)
