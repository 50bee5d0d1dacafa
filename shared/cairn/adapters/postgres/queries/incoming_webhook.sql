-- name: add
-- Keep an incoming webhook with its sealed secrets.
INSERT INTO incoming_webhook (workspace_id, id, name, client_id, writes_scope, secrets, created_at)
VALUES (%(workspace_id)s, %(id)s, %(name)s, %(client_id)s, %(scope)s, %(secrets)s, %(created_at)s)

-- name: all
-- Every incoming webhook, newest first.
-- columns: cairn.webhooks.incoming.IncomingWebhook
SELECT {columns}, writes_scope AS scope FROM incoming_webhook WHERE workspace_id = %(workspace_id)s ORDER BY id DESC

-- name: find
-- One incoming webhook.
-- columns: cairn.webhooks.incoming.IncomingWebhook
SELECT {columns}, writes_scope AS scope FROM incoming_webhook WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: secrets
-- The sealed secrets of one.
SELECT secrets FROM incoming_webhook WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: rotate
-- Keep new secrets.
UPDATE incoming_webhook SET secrets = %(secrets)s, rotated_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove
-- Remove one with its secrets.
DELETE FROM incoming_webhook WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: workspace_of
-- Whose one is; of any workspace.
SELECT workspace_of_incoming_webhook(%(id)s)
