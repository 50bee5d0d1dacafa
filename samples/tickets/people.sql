-- More people who do not exist, beside those of samples/accounts/demo.sql.
INSERT INTO accounts.users (id, email, name, department, status, locked_reason, failed_sign_ins)
VALUES
  ('u-2001', 'kofi.mensah@harbourlane.example', 'Kofi Mensah', 'Warehouse', 'locked', 'too many failed sign-ins', 6),
  ('u-2002', 'helga.brandt@harbourlane.example', 'Helga Brandt', 'Finance', 'locked', 'too many failed sign-ins', 5),
  ('u-2003', 'luc.moreau@harbourlane.example', 'Luc Moreau', 'Sales', 'locked', 'too many failed sign-ins', 5),
  ('u-2004', 'elena.ruiz@harbourlane.example', 'Elena Ruiz', 'Support', 'locked', 'too many failed sign-ins', 7),
  ('u-2005', 'sam.whitlock@harbourlane.example', 'Sam Whitlock', 'Sales', 'suspended', 'contract ended', 0),
  ('u-2006', 'dana.kim@harbourlane.example', 'Dana Kim', 'Engineering', 'active', NULL, 3),
  ('u-2007', 'rosa.vidal@harbourlane.example', 'Rosa Vidal', 'Legal', 'locked', 'too many failed sign-ins', 20);

INSERT INTO accounts.sign_ins (user_id, at, outcome, address, device)
SELECT made.user_id, now() - made.ago::interval, made.outcome, made.address::inet, made.device
FROM (VALUES
  ('u-2001', '20 minutes', 'wrong_password', '203.0.113.71', 'scanner 4'),
  ('u-2001', '19 minutes', 'wrong_password', '203.0.113.71', 'scanner 4'),
  ('u-2001', '18 minutes', 'locked', '203.0.113.71', 'scanner 4'),
  ('u-2002', '30 hours', 'success', '203.0.113.72', 'laptop HL-0441'),
  ('u-2002', '15 minutes', 'wrong_password', '203.0.113.72', 'laptop HL-0441'),
  ('u-2002', '14 minutes', 'locked', '203.0.113.72', 'laptop HL-0441'),
  ('u-2003', '70 minutes', 'wrong_password', '203.0.113.73', 'phone'),
  ('u-2003', '69 minutes', 'locked', '203.0.113.73', 'phone'),
  ('u-2004', '33 minutes', 'wrong_password', '203.0.113.74', 'laptop HL-0460'),
  ('u-2004', '32 minutes', 'locked', '203.0.113.74', 'laptop HL-0460'),
  ('u-2006', '12 minutes', 'mfa_failed', '203.0.113.76', 'phone'),
  ('u-2006', '11 minutes', 'mfa_failed', '203.0.113.76', 'phone'),
  ('u-2006', '10 minutes', 'mfa_failed', '203.0.113.76', 'phone'),
  ('u-2007', '60 minutes', 'wrong_password', '198.51.100.21', 'unknown'),
  ('u-2007', '59 minutes', 'wrong_password', '198.51.100.22', 'unknown'),
  ('u-2007', '58 minutes', 'wrong_password', '198.51.100.23', 'unknown'),
  ('u-2007', '57 minutes', 'locked', '198.51.100.24', 'unknown')
) AS made (user_id, ago, outcome, address, device);
