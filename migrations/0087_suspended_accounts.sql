-- An account whose intake is refused, and whose runs and deliveries are held. A node of the previous
-- version does not know of it and goes on for the account; nothing is lost by that.
alter table accounts add column suspended_at timestamptz;
