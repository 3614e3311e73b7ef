-- People may be in several organizations, so users belong to none; a request sees those who are members of its own.
CREATE POLICY of_tenant ON users USING (id IN (SELECT user_id FROM memberships));
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
