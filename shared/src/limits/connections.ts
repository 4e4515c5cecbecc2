import { defineLimits } from './define-limits.ts';

/** Connections of clients, what they send slowly or do not read, and the time that they have. */
// biome-ignore format: one limit a line
export const CONNECTION_LIMITS = defineLimits({
  maxHeaderBytes: { default: 32 * 1024, unit: 'bytes', scope: 'request', why: 'request line and headers together; over it 431' },
  maxDrainBytes: { default: 8 * 1024 * 1024, unit: 'bytes', scope: 'request', why: 'bytes of a refused body that are read and thrown away, so its sender reads the answer' },
  drainMs: { default: 5_000, unit: 'ms', scope: 'request', why: 'time for that' },
  maxPipelinedRequests: { default: 20, unit: 'count', scope: 'connection', why: 'requests that wait for the answer of an earlier one; with more the connection is closed' },
  maxClientConnections: { default: 10_000, unit: 'count', scope: 'node', why: 'connections of clients; beyond it silent and idle ones make room, or the new one is refused' },
  maxUnreadAnswerBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'answers that clients have not read on one node; beyond it the oldest are cut off' },
  maxUnfinishedBodyBytes: { default: 128 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'what has arrived of bodies over `smallBodyBytes` that are not complete; the oldest are cut off' },
  smallAnswerBytes: { default: 16 * 1024, unit: 'bytes', scope: 'answer', why: 'answers up to this size do not count for `maxUnreadAnswerBytes`' },
  clientStallMs: { default: 30_000, unit: 'ms', scope: 'answer', why: 'a client that takes nothing of its answer or stream for so long is cut off; a stream can go on where it was' },
  headersTimeoutMs: { default: 15_000, unit: 'ms', scope: 'connection', why: 'from the first byte of a connection to the end of the headers' },
  requestTimeoutMs: { default: 60_000, unit: 'ms', scope: 'request', why: 'from the first byte to the end of the body' },
  keepAliveMs: { default: 65_000, unit: 'ms', scope: 'connection', why: 'how long an idle connection is kept: longer than load balancers keep theirs (60 s)' },
  keepAliveHintMs: { default: 3_000, unit: 'ms', scope: 'connection', why: 'what `keep-alive: timeout` tells clients: one that heeds it ends an idle connection before a stopping node does' },
  closingIdleMs: { default: 3_000, unit: 'ms', scope: 'connection', why: 'how long a stopping node leaves an idle connection open: the next request may be on its way' },
  closingFreshMs: { default: 1_500, unit: 'ms', scope: 'connection', why: 'the same of a connection over which nothing has come yet: its request is on its way' },
});
