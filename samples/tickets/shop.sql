-- What a made-up company knows of its customers: deliveries of webhooks, and invoices. Beside the
-- users of samples/accounts, in one database. None of these customers exists.

CREATE SCHEMA shop;

CREATE TABLE shop.webhook_deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer text NOT NULL,
  endpoint_url text NOT NULL,
  event text NOT NULL,
  status_code integer,
  attempted_at timestamptz NOT NULL
);

CREATE TABLE shop.invoices (
  number text PRIMARY KEY,
  customer text NOT NULL,
  amount numeric(10, 2) NOT NULL,
  currency text NOT NULL DEFAULT 'EUR',
  status text NOT NULL,
  issued_at date NOT NULL
);

CREATE TABLE shop.api_keys (
  id text PRIMARY KEY,
  customer text NOT NULL,
  secret_hash text NOT NULL
);

INSERT INTO shop.webhook_deliveries (customer, endpoint_url, event, status_code, attempted_at)
SELECT made.customer, made.endpoint_url, made.event, made.status_code, now() - made.ago::interval
FROM (VALUES
  ('Harbour Lane', 'http://127.0.0.1:9/harbour-lane', 'order.paid', 200, '26 hours'),
  ('Harbour Lane', 'http://127.0.0.1:9/harbour-lane', 'order.paid', 502, '3 hours'),
  ('Harbour Lane', 'http://127.0.0.1:9/harbour-lane', 'order.paid', 502, '2 hours'),
  ('Harbour Lane', 'http://127.0.0.1:9/harbour-lane', 'order.sent', 502, '40 minutes'),
  ('Northgate Books', 'http://127.0.0.1:9/northgate', 'order.paid', 200, '2 hours'),
  ('Northgate Books', 'http://127.0.0.1:9/northgate', 'order.paid', 200, '1 hour'),
  ('Alder & Finch', 'http://127.0.0.1:9/alder', 'order.paid', 200, '2 days'),
  ('Alder & Finch', 'http://127.0.0.1:9/alder', 'order.paid', 401, '5 hours'),
  ('Alder & Finch', 'http://127.0.0.1:9/alder', 'order.sent', 401, '1 hour')
) AS made (customer, endpoint_url, event, status_code, ago);

INSERT INTO shop.invoices (number, customer, amount, status, issued_at)
VALUES
  ('INV-1041', 'Harbour Lane', 240.00, 'paid', current_date - 40),
  ('INV-1042', 'Harbour Lane', 240.00, 'paid', current_date - 39),
  ('INV-1077', 'Harbour Lane', 240.00, 'open', current_date - 9),
  ('INV-1050', 'Northgate Books', 89.50, 'paid', current_date - 30),
  ('INV-1066', 'Alder & Finch', 1210.00, 'overdue', current_date - 60);

INSERT INTO shop.api_keys (id, customer, secret_hash)
VALUES ('key-1', 'Harbour Lane', 'not a hash of anything');

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'shop_reader') THEN
    CREATE ROLE shop_reader NOLOGIN;
  END IF;
END
$$;
GRANT USAGE ON SCHEMA shop TO shop_reader;
GRANT SELECT ON shop.webhook_deliveries, shop.invoices TO shop_reader;
