-- Expands. An index that nothing needs goes, and each that stays says what needs it.

-- A run grows when its call ends. Where it finds room in its page, its indexes stay as they are.
ALTER TABLE runs SET (fillfactor = 65);

COMMENT ON INDEX attempts_pkey IS 'the steps of a call, by its id';
COMMENT ON INDEX attempts_one_live IS 'at most one live attempt for each contact; all that are live: recovery, the sweep, calls that are up, contacts in a call';
COMMENT ON INDEX attempts_one_per_number IS 'at most one call to a number; which attempt holds a number; which hold theirs in doubt';
COMMENT ON INDEX attempts_of_contact IS 'the newest call of each contact in lists; the number that a retry''s contact saw last; the recount of a campaign';
COMMENT ON INDEX attempts_breaker IS 'what the circuit breaker has counted, when an engine takes a campaign over';
COMMENT ON INDEX attempts_cut IS 'the calls that an outage of a trunk has cut';
COMMENT ON INDEX attempts_named IS 'the call that a carrier''s callback is about; whether another call has the same name';

COMMENT ON INDEX runs_pkey IS 'a run of the API; its webhooks, recordings and chat';
COMMENT ON INDEX runs_attempt_id_key IS 'one run for each attempt; the end, the events and the cost of a call';
COMMENT ON INDEX runs_of_campaign IS 'the list and the report of a campaign''s runs';
COMMENT ON INDEX runs_of_agent IS 'the list of an agent''s runs';
COMMENT ON INDEX runs_of_organization IS 'the list of all runs, usage, daily reports, retention';

COMMENT ON INDEX contacts_pkey IS 'the steps of a call, by campaign and line; the list of contacts';
COMMENT ON INDEX contacts_campaign_id_phone_number_key IS 'no number twice in a list; who waits for a number that is released';
COMMENT ON INDEX contacts_fresh IS 'claims: whom to call first';
COMMENT ON INDEX contacts_waiting IS 'claims: whose retry is due, and when the next one is';
COMMENT ON INDEX contacts_awaiting IS 'who waits for a number that nobody holds; retries that changed settings rule out';
COMMENT ON INDEX contacts_unknown IS 'the list of contacts whose call had an unknown outcome';

-- Statements of this release and of earlier ones find what is live in `attempts_one_live` as well, and each step of a call wrote this one too. Last:
-- while it waits for the table, it holds nothing that calls need.
DROP INDEX attempts_live;
