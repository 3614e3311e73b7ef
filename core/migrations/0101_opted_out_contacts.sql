-- Expands. A campaign can have tens of thousands of contacts whose numbers have opted out, and their list is downloaded.

CREATE INDEX contacts_opted_out ON contacts (campaign_id, row_no) WHERE stop_reason = 'opted_out';
COMMENT ON INDEX contacts_opted_out IS 'the list of a campaign''s contacts that have opted out';
