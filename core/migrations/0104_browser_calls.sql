-- Expands. A call from a browser has its run before it begins, and needs no telephony configuration.
ALTER TABLE attempts ALTER COLUMN telephony_configuration_id DROP NOT NULL;
COMMENT ON COLUMN attempts.telephony_configuration_id IS 'Null: the call comes from a browser.';
