-- Which executions have been replayed: a retry of many passes those over.
create index executions_replays on executions (replay_of) where replay_of is not null;
