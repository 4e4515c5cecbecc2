import { defineLimits } from './define-limits.ts';

/** Requests to hosts outside: their heads, their answers, names and connections. */
// biome-ignore format: one limit a line
export const EGRESS_LIMITS = defineLimits({
  maxFetchUrlChars: { default: 16_384, unit: 'characters', scope: 'request', why: "the URL of a component's request" },
  maxUrlHostChars: { default: 512, unit: 'characters', scope: 'request', why: 'what names the host in the URL of a request, redirect, send or webhook; checked before parsing, which is quadratic' },
  maxFetchHeaderBytes: { default: 64 * 1024, unit: 'bytes', scope: 'request', why: "header names and values of a component's request" },
  maxFetchHeaders: { default: 1_000, unit: 'count', scope: 'request', why: "header lines of a component's request; an empty one costs as much as any other" },
  maxFetchMethodChars: { default: 256, unit: 'characters', scope: 'request', why: "the method of a component's request" },
  maxHeaderNameChars: { default: 256, unit: 'characters', scope: 'request', why: "the name of one header of a component's request, or of its answer to an HTTP event" },
  maxHeadChars: { default: 256 * 1024, unit: 'characters', scope: 'request', why: 'URL and headers of either, as JSON' },
  maxFetchRedirects: { default: 10, unit: 'count', scope: 'request', why: 'redirects that `fetch` follows' },
  maxFetchResponseHeaderBytes: { default: 16 * 1024, unit: 'bytes', scope: 'answer', why: "header names and values of an answer to a component's request; as Node's own clients have it" },
  maxFetchFramingBytes: { default: 512 * 1024, unit: 'bytes', scope: 'answer', why: 'headers, lengths and extensions of chunks, beyond as much as the body counts' },
  maxNameAddresses: { default: 512, unit: 'count', scope: 'request', why: 'addresses of one name; all are checked, and the first few are tried' },
  maxSystemLookupsWaiting: { default: 16, unit: 'count', scope: 'account', why: 'names that wait until the system of a node is asked for them' },
  fetchReadBytesPerSecond: { default: 32 * 1024 * 1024, unit: 'bytes per second', scope: 'account', why: 'pace at which answers to `fetch` are read while others are here (`othersPresentMs`)' },
  fetchReadBurstMs: { default: 50, unit: 'ms', scope: 'account', why: 'so much ahead of that pace need not wait' },
  maxIdleConnections: { default: 1_024, unit: 'count', scope: 'node', why: 'idle connections that are kept open to hosts outside; the oldest close' },
  maxFetchBytesPerTenant: { default: 96 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'requests and answers of components in memory on one node' },
  connectTimeoutMs: { default: 10_000, unit: 'ms', scope: 'request', why: 'connecting to a host outside, DNS included' },
});
