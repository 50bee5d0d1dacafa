-- name: find
-- A task that the asking agent may see and that is there.
SELECT id, kind, title, position, data_subjects, metadata FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND label = 'Task'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: known
-- Which of these are tasks that the asking agent may see and that are there.
SELECT id FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label = 'Task'
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: open
-- Tasks that have not ended, the most important first, then the newest.
SELECT id, kind, title, metadata #>> '{status}' AS status, importance, occurred_at FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Task' AND state IN ('active', 'provisional')
   AND metadata #>> '{status}' IN ('running', 'waiting')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
 ORDER BY importance DESC, occurred_at DESC, id DESC LIMIT %(limit)s
