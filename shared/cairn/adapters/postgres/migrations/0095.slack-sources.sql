-- A Slack team is a kind of ticket source.
-- depends: 0094.publications

ALTER TABLE ticket_source DROP CONSTRAINT ticket_source_kind_check;
ALTER TABLE ticket_source ADD CONSTRAINT ticket_source_kind_check
  CHECK (kind IN ('zoho-desk', 'github-issues', 'mail', 'slack'));
