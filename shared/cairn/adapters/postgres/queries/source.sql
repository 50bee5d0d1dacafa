-- name: add
-- Keep a source with its sealed secrets; a name that is taken changes nothing.
INSERT INTO source (workspace_id, id, name, kind, config, secrets, client_id, document_scope,
  data_subjects,
  state, sync_seconds, max_items, max_bytes, created_at, next_sync_at)
VALUES (%(workspace_id)s, %(id)s, %(called)s, %(kind)s, %(config)s, %(secrets)s, %(client_id)s,
  %(scope)s, %(data_subjects)s, %(state)s, %(sync_seconds)s, %(max_items)s, %(max_bytes)s,
  %(created_at)s, %(next_sync_at)s)
ON CONFLICT (workspace_id, name) DO NOTHING

-- name: find
-- One source, with what stands of it now.
SELECT s.id, s.name, s.kind, s.config, s.client_id, s.document_scope AS scope, s.data_subjects, s.state,
  s.sync_seconds, s.max_items, s.max_bytes, s.created_at, s.next_sync_at, s.synced_at, s.failures,
  s.error, s.error_detail, s.run_id, s.run_report, s.accept_deletions, s.version, s.last_sync, s.last_preview,
  h.documents, h.refused, h.bytes
  FROM source s CROSS JOIN LATERAL (
    SELECT count(i.document_id) AS documents, count(i.reason) AS refused,
      coalesce(sum(i.bytes), 0)::bigint AS bytes
      FROM source_item i WHERE i.workspace_id = s.workspace_id AND i.source_id = s.id) h
 WHERE s.workspace_id = %(workspace_id)s AND s.id = %(id)s

-- name: all
-- Every source, by name, with what stands of it now.
SELECT s.id, s.name, s.kind, s.config, s.client_id, s.document_scope AS scope, s.data_subjects, s.state,
  s.sync_seconds, s.max_items, s.max_bytes, s.created_at, s.next_sync_at, s.synced_at, s.failures,
  s.error, s.error_detail, s.run_id, s.run_report, s.accept_deletions, s.version, s.last_sync, s.last_preview,
  h.documents, h.refused, h.bytes
  FROM source s CROSS JOIN LATERAL (
    SELECT count(i.document_id) AS documents, count(i.reason) AS refused,
      coalesce(sum(i.bytes), 0)::bigint AS bytes
      FROM source_item i WHERE i.workspace_id = s.workspace_id AND i.source_id = s.id) h
 WHERE s.workspace_id = %(workspace_id)s ORDER BY s.name

-- name: secrets
-- The sealed secrets of a source.
SELECT secrets FROM source WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: change
-- Other settings, another state; other secrets when there are any. It is read at once.
UPDATE source SET config = %(config)s, state = %(state)s, sync_seconds = %(sync_seconds)s,
  max_items = %(max_items)s, max_bytes = %(max_bytes)s, failures = 0, error = NULL,
  error_detail = NULL, version = NULL,
  secrets = coalesce(%(secrets)s, secrets), next_sync_at = %(next_sync_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state <> 'removing'

-- name: begin
-- Begin a run, unless one is under way; it stands still until a worker leases it.
UPDATE source SET run_id = %(run_id)s, run_mode = %(mode)s, run_started_at = %(now)s,
  run_cursor = NULL, run_report = %(report)s, accept_deletions = %(accept_deletions)s,
  lease = NULL, leased_until = %(now)s + interval '2 minutes'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND run_id IS NULL

-- name: remove_all
-- Let a source go with what it brought; a run that is under way ends with the worker's next page.
UPDATE source SET state = 'removing', run_id = %(run_id)s, run_mode = 'remove',
  run_started_at = %(now)s, run_cursor = NULL, run_report = %(report)s, lease = NULL,
  leased_until = %(now)s + interval '2 minutes'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state <> 'removing'

-- name: lease
-- Take a run that nobody works at.
UPDATE source SET lease = %(lease)s, leased_until = %(until)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND run_id IS NOT NULL
   AND (lease IS NULL OR leased_until <= %(now)s)

-- name: cursor
-- How far the run of a source is.
SELECT run_cursor FROM source WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: progress
-- How far a run is; only who holds the lease may say so.
UPDATE source SET run_cursor = %(cursor)s, run_report = %(report)s, leased_until = %(until)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s

-- name: is_leased
-- Whether a run is still this worker's.
SELECT EXISTS (SELECT FROM source
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s)

-- name: release
-- Let another worker go on.
UPDATE source SET lease = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s

-- name: synced
-- A run has ended well, and when the next one is due.
UPDATE source SET run_id = NULL, run_mode = NULL, run_started_at = NULL, run_cursor = NULL,
  run_report = NULL, accept_deletions = false, lease = NULL, leased_until = NULL,
  last_sync = %(report)s, version = %(version)s, synced_at = %(now)s, failures = 0, error = NULL, error_detail = NULL,
  next_sync_at = %(now)s + sync_seconds * interval '1 second'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s

-- name: previewed
-- What a sync would change was found out.
UPDATE source SET run_id = NULL, run_mode = NULL, run_started_at = NULL, run_cursor = NULL,
  run_report = NULL, lease = NULL, leased_until = NULL, last_preview = %(report)s,
  error = NULL, error_detail = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s

-- name: failed
-- A run has failed, and why; the next comes after ten minutes, then after twice as long each time, up to an hour or its interval.
UPDATE source SET run_id = NULL, run_mode = NULL, run_started_at = NULL, run_cursor = NULL,
  accept_deletions = false, lease = NULL, leased_until = NULL, run_report = NULL,
  last_sync = CASE WHEN run_mode = 'preview' THEN last_sync ELSE %(report)s END,
  last_preview = CASE WHEN run_mode = 'preview' THEN %(report)s ELSE last_preview END,
  version = CASE WHEN run_mode = 'preview' THEN version END,
  error = %(error)s, error_detail = %(error_detail)s, failures = failures + 1,
  next_sync_at = %(now)s
    + least(600 * power(2, least(failures, 20)), greatest(3600, sync_seconds))
      * interval '1 second'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s

-- name: remove
-- A source goes with what is known of its items; documents stay.
DELETE FROM source WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: items
-- What is known of these items.
SELECT key, mark, document_id, bytes, reason, seen FROM source_item
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s AND key = ANY (%(keys)s)

-- name: marks
-- What every item was when it was read; of those that were.
SELECT key, mark FROM source_item
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s AND mark <> ''

-- name: seen
-- These items are still there, as they were.
UPDATE source_item SET seen = %(run_id)s
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s AND key = ANY (%(keys)s)

-- name: seen_all
-- Everything is still there, as it was.
UPDATE source_item SET seen = %(run_id)s
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s

-- name: unsee
-- This item is known to be gone.
UPDATE source_item SET seen = %(unseen)s
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s AND key = %(key)s

-- name: keep_item
-- What an item was when it was read; of a source that was removed meanwhile nothing is kept.
INSERT INTO source_item (workspace_id, source_id, key, mark, document_id, bytes, reason, seen)
SELECT %(workspace_id)s, s.id, %(key)s, %(mark)s, %(document_id)s, %(bytes)s, %(reason)s, %(run_id)s
  FROM source s WHERE s.workspace_id = %(workspace_id)s AND s.id = %(id)s
ON CONFLICT (workspace_id, source_id, key) DO UPDATE
  SET mark = excluded.mark, bytes = excluded.bytes, reason = excluded.reason, seen = excluded.seen,
    document_id = coalesce(excluded.document_id, source_item.document_id)

-- name: unseen
-- Items that a run did not see: they are gone.
SELECT key, mark, document_id, bytes, reason, seen FROM source_item
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s AND seen <> %(run_id)s
   AND key > %(after)s
 ORDER BY key LIMIT %(limit)s

-- name: held
-- How many items are known of a source, how many of them a run saw, and the bytes of those.
SELECT count(*), count(*) FILTER (WHERE seen = %(run_id)s),
  coalesce(sum(bytes) FILTER (WHERE seen = %(run_id)s), 0)::bigint
  FROM source_item WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s

-- name: drop_item
-- An item is gone.
DELETE FROM source_item
 WHERE workspace_id = %(workspace_id)s AND source_id = %(id)s AND key = %(key)s

-- name: reading
-- How many documents of a workspace are being read.
SELECT count(*) FROM outbox WHERE workspace_id = %(workspace_id)s AND topic = 'ingestion'

-- name: due
-- The sources that are to be read; of every workspace.
SELECT workspace_id, id FROM knowledge_sources_due(%(at)s, %(limit)s)
