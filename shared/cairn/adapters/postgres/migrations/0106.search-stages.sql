-- How long each stage of a search took, so that it can be shown later.
-- depends: 0105.oauth-sign-ins

ALTER TABLE search_run ADD COLUMN stages_ms jsonb NOT NULL DEFAULT '{}'; -- stage -> milliseconds
