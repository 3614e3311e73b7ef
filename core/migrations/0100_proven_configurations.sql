-- Expands. A refusal in unknown words is the number's fault once a call has been placed with the same credentials.
ALTER TABLE telephony_configurations ADD COLUMN proven_version text;
COMMENT ON COLUMN telephony_configurations.proven_version IS 'A digest of the credentials with which a call was placed; null: with none yet.';
