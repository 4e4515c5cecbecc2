import { defineLimits } from './define-limits.ts';

/**
 * Requests to endpoints and to the REST API as they arrive: their bodies, and the turns that busy
 * accounts take.
 */
// biome-ignore format: one limit a line
export const INGRESS_LIMITS = defineLimits({
  maxHttpBodyBytes: { default: 512 * 1024, unit: 'bytes', scope: 'request', why: 'the body of a request to an endpoint; over it 413' },
  smallBodyBytes: { default: 16 * 1024, unit: 'bytes', scope: 'request', why: 'bodies up to this size cost no pace; bytes beyond it do' },
  largeBodyBytesPerSecond: { default: 512 * 1024, unit: 'bytes per second', scope: 'account', why: 'pace of larger bodies, for each processor of the node, while others send as well; the rest waits' },
  maxBodyChecksPerTenant: { default: 2, unit: 'count', scope: 'account', why: 'bodies over `smallBodyBytes` that are parsed as JSON or a form at once' },
  othersPresentMs: { default: 1_000, unit: 'ms', scope: 'node', why: 'how long after its last request or run another account is still here' },
  lightPerSecond: { default: 400, unit: 'per second', scope: 'account', why: 'requests, runs and deliveries a second beyond which it is heavy: it gives way while a light account is here' },
  lightBurst: { default: 8, unit: 'count', scope: 'account', why: 'requests, runs and deliveries at once that do not make it heavy' },
  busyRequestsPerSecond: { default: 200, unit: 'per second', scope: 'account', why: 'pace of requests of a heavy account, for each processor, where the thread is busy and a light one is here; set by `HEADWATER_BUSY_REQUESTS_PER_SECOND`' },
  busyBurstMs: { default: 50, unit: 'ms', scope: 'account', why: 'so much ahead of that pace need not wait' },
  maxRequestWaitMs: { default: 20_000, unit: 'ms', scope: 'request', why: 'how long a request may wait for its turn; then 429' },
  readBytesPerSecond: { default: 16 * 1024 * 1024, unit: 'bytes per second', scope: 'account', why: 'pace at which bodies over `smallBodyBytes`, or of no announced length, and the output of sandbox processes are read, each, while others are here (`othersPresentMs`)' },
  readBurstMs: { default: 20, unit: 'ms', scope: 'account', why: 'so much ahead of that pace need not wait' },
  minPieceBytes: { default: 512, unit: 'bytes', scope: 'request', why: 'what each piece of such a body, and of an answer from outside, counts at least: a chunk of one byte costs as much as one of these' },
  requestsAtOnce: { default: 4, unit: 'count', scope: 'key', why: 'requests to the REST API that go on at once while other accounts send as well; unknown keys share one turn' },
  requestsRestMs: { default: 8, unit: 'ms', scope: 'key', why: 'pause before the next of them go on, in their order; beyond 4 000 that wait 429' },
  endpointRequestsAtOnce: { default: 16, unit: 'count', scope: 'account', why: 'requests to endpoints of a heavy account that go on at once while a light one is here' },
  endpointRequestsRestMs: { default: 4, unit: 'ms', scope: 'account', why: 'pause before the next of them go on; beyond 4 000 that wait, at once' },
  maxFormFields: { default: 2_000, unit: 'count', scope: 'request', why: 'fields of a form sent to an endpoint (one with more arrives as a string), and of forms and objects sent to the API (400)' },
  maxPartHeadBytes: { default: 8 * 1024, unit: 'bytes', scope: 'request', why: 'header lines of one part of a multipart form sent to an endpoint; with more the form arrives as a string' },
});
