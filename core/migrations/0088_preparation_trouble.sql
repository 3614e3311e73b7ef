-- Why what calls need could not be created at the provider, in its own words; null while it could, or when nothing has to be created.
ALTER TABLE telephony_configurations ADD COLUMN preparation_trouble text;
