-- What runs by itself waits longer after each failure; when a member's contacts were looked at.
-- depends: 0085.checkpoint-usage

ALTER TABLE intent
  ADD COLUMN tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0), -- begun and not done, in a row
  ADD COLUMN retry_at timestamptz, -- not tried before; null: nothing was begun that is not done
  ADD COLUMN problem text; -- what the newest try came to, by code; 'interrupted' while it runs
ALTER TABLE opportunity
  ADD COLUMN tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  ADD COLUMN retry_at timestamptz,
  ADD COLUMN problem text;
ALTER TABLE negotiation
  ADD COLUMN tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  ADD COLUMN retry_at timestamptz,
  ADD COLUMN problem text;
ALTER TABLE feed_health
  ADD COLUMN contacts_at timestamptz; -- when the member's contacts were last proposed to each other
