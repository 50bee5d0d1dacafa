-- The kinds of help desks that are ticket sources; which of them there are is the code's.
-- depends: 0098.identities

ALTER TABLE ticket_source DROP CONSTRAINT ticket_source_kind_check;
ALTER TABLE ticket_source ADD CONSTRAINT ticket_source_kind_check
  CHECK (kind IN ('zoho-desk', 'github-issues', 'mail', 'slack', 'zendesk', 'freshdesk', 'intercom',
                  'jira', 'linear', 'halopsa', 'autotask', 'connectwise', 'webhook'));
