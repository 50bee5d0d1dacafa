-- One key at a time, in whatever workspace: a token leads to one place.
-- depends: 0075.token-subjects
-- transactional: false

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS api_key_token_subject ON api_key (token_subject)
  WHERE token_subject IS NOT NULL AND revoked_at IS NULL;
