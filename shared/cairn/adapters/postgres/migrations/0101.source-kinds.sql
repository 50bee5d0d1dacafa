-- Kinds of sources that services and the workspace itself are.
-- depends: 0100.scim

ALTER TABLE source DROP CONSTRAINT source_kind_check;
ALTER TABLE source ADD CONSTRAINT source_kind_check
  CHECK (kind IN ('folder', 'git', 'site', 'bucket', 'confluence', 'notion', 'tickets'));
