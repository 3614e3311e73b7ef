-- A contact whose call was cut by the trunk is called again where the campaign asks for it. Rows of before hold the older reasons, so they need not
-- be read through for the new constraint.
ALTER TABLE contacts DROP CONSTRAINT contacts_retry_reason_check;
ALTER TABLE contacts ADD CONSTRAINT contacts_retry_reason_check
  CHECK (retry_reason IN ('busy', 'no_answer', 'voicemail', 'trunk_lost')) NOT VALID;
