-- Expands. What conversations cost: with the prices of an organization, and in the totals of past days.
ALTER TABLE organizations ADD COLUMN service_prices jsonb;
COMMENT ON COLUMN organizations.service_prices IS 'Prices of speech and language services that apply before those of the installation. Null: none.';
ALTER TABLE usage_days ADD COLUMN cost_usd numeric;
COMMENT ON COLUMN usage_days.cost_usd IS 'What the services of the day''s calls cost, as far as they have prices. Null: of no call is known what it cost.';
