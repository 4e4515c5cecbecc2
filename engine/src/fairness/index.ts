export { type AnonymousLookups, createAnonymousLookups } from './anonymous-lookups.ts';
export { type BoundedTurns, createBoundedTurns, tooMany } from './bounded-turns.ts';
export { createDbTurns, type ReadDbInTurn } from './db-turns.ts';
export { endAtPace, pauseAtPaceMs } from './end-at-pace.ts';
export { FairCache } from './fair-cache.ts';
export { createRecentReads, type RecentReads } from './recent-reads.ts';
export { createRequestRate, REQUEST_BURST_SECONDS, type RequestRate } from './request-rate.ts';
export { restAfterLongMs, restAfterMs } from './rest-after.ts';
export { startStallClock } from './stall-clock.ts';
