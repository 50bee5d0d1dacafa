-- People who do not exist, and how they signed in lately, seen from now.
-- u-1001 forgot her password and locked herself out at her own desk; u-1004 was locked by someone
-- who guessed from elsewhere; u-1006 was suspended by people; the others have nothing to tell.

INSERT INTO accounts.users (id, email, name, department, status, locked_reason, failed_sign_ins)
VALUES
  ('u-1001', 'marta.lindqvist@harbourlane.example', 'Marta Lindqvist', 'Finance', 'locked', 'too many failed sign-ins', 5),
  ('u-1002', 'owen.adeyemi@harbourlane.example', 'Owen Adeyemi', 'Sales', 'active', NULL, 0),
  ('u-1003', 'ines.caldeira@harbourlane.example', 'Inês Caldeira', 'Support', 'active', NULL, 1),
  ('u-1004', 'tomasz.berg@harbourlane.example', 'Tomasz Berg', 'Engineering', 'locked', 'too many failed sign-ins', 12),
  ('u-1005', 'priya.raman@harbourlane.example', 'Priya Raman', 'Engineering', 'active', NULL, 0),
  ('u-1006', 'leo.fontaine@harbourlane.example', 'Léo Fontaine', 'Logistics', 'suspended', 'left the company', 0),
  ('u-1007', 'yuki.tanabe@harbourlane.example', 'Yuki Tanabe', 'Finance', 'active', NULL, 0),
  ('u-1008', 'grace.okafor@harbourlane.example', 'Grace Okafor', 'Legal', 'active', NULL, 0);

INSERT INTO accounts.sign_ins (user_id, at, outcome, address, device)
SELECT made.user_id, now() - made.ago::interval, made.outcome, made.address::inet, made.device
FROM (VALUES
  ('u-1001', '26 hours', 'success', '203.0.113.24', 'laptop HL-0417'),
  ('u-1001', '41 minutes', 'wrong_password', '203.0.113.24', 'laptop HL-0417'),
  ('u-1001', '40 minutes', 'wrong_password', '203.0.113.24', 'laptop HL-0417'),
  ('u-1001', '39 minutes', 'wrong_password', '203.0.113.24', 'laptop HL-0417'),
  ('u-1001', '38 minutes', 'wrong_password', '203.0.113.24', 'laptop HL-0417'),
  ('u-1001', '37 minutes', 'wrong_password', '203.0.113.24', 'laptop HL-0417'),
  ('u-1001', '36 minutes', 'locked', '203.0.113.24', 'laptop HL-0417'),
  ('u-1002', '3 hours', 'success', '203.0.113.31', 'phone'),
  ('u-1003', '50 minutes', 'wrong_password', '203.0.113.40', 'laptop HL-0502'),
  ('u-1003', '49 minutes', 'success', '203.0.113.40', 'laptop HL-0502'),
  ('u-1004', '30 hours', 'success', '203.0.113.57', 'laptop HL-0388'),
  ('u-1004', '95 minutes', 'wrong_password', '198.51.100.7', 'unknown'),
  ('u-1004', '94 minutes', 'wrong_password', '198.51.100.9', 'unknown'),
  ('u-1004', '94 minutes', 'wrong_password', '198.51.100.12', 'unknown'),
  ('u-1004', '93 minutes', 'mfa_failed', '198.51.100.7', 'unknown'),
  ('u-1004', '92 minutes', 'locked', '198.51.100.7', 'unknown'),
  ('u-1005', '2 hours', 'success', '203.0.113.60', 'laptop HL-0390'),
  ('u-1007', '5 hours', 'success', '203.0.113.24', 'laptop HL-0421')
) AS made (user_id, ago, outcome, address, device);
