-- What the carrier says that the call cost, as {amount, currency}; null until it has said so.
ALTER TABLE runs ADD COLUMN cost jsonb;
-- Why the provider does not let calls show the number, in its own words; null while it does. Such a number is not shown until a person clears it.
ALTER TABLE phone_numbers ADD COLUMN refused_reason text;
