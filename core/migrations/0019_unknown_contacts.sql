-- What a person found out of contacts whose call had an unknown outcome.

-- Null: nobody has said.
ALTER TABLE contacts ADD COLUMN reached boolean;
CREATE INDEX contacts_unknown ON contacts (campaign_id, row_no) WHERE last_outcome = 'unknown';
