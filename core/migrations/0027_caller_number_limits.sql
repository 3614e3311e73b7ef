-- How many calls may show a number at once: carriers and callees take a number that calls all the time for a nuisance.
ALTER TABLE phone_numbers ADD COLUMN max_concurrent int CHECK (max_concurrent > 0);
