-- How often an invocation was taken by a node: a fencing token. Each claim makes it larger, and each write of a holder names
-- the claim that it has, so a node that was slow, or that took the same row again, changes nothing of the newer claim.
-- Rows of nodes of the version before begin with 1: one that takes them over looks for what they have come to.
alter table invocations add column claim integer not null default 1;
