-- Feedback by recipe and signal: searches are dropped after a month, what was said of them stays.
-- depends: 0040.calls-of-sessions

ALTER TABLE search_feedback
  ADD COLUMN recipe text,
  ADD COLUMN signal text
    CHECK (signal IS NULL OR retrieval_reason = 'proactive'
      AND signal IN ('recurring_pattern', 'entity_context', 'retrieval_history'));
