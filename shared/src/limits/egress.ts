/** Requests to hosts outside: their heads, their answers, names and connections. */
export const EGRESS_LIMITS = {
  /** Of one request: its URL, and its header names and values together. */
  maxFetchUrlChars: 16_384,
  /** Of a URL, what names its host, as it is written: DNS has names of 253 characters at most. */
  maxUrlHostChars: 512,
  maxFetchHeaderBytes: 64 * 1024,
  /** Lines: an empty one costs as much as any other. Servers take some hundred. */
  maxFetchHeaders: 1_000,
  /**
   * Of a request the method; of a request, and of what a run answers one with, the name of a
   * header, and URL and headers as JSON.
   */
  maxFetchMethodChars: 256,
  maxHeaderNameChars: 256,
  maxHeadChars: 256 * 1024,
  maxFetchRedirects: 10,
  /** Headers of one response, names and values together; as Node's own clients have it. */
  maxFetchResponseHeaderBytes: 16 * 1024,
  /**
   * What each piece of an answer's body counts at least, for maxFetchBytesPerTenant,
   * fetchReadBytesPerSecond, maxDrainedResponseBytes and maxFetchFramingBytes: a chunk of one byte
   * costs as much as one of these.
   */
  minFetchPieceBytes: 512,
  /**
   * What else comes with an answer (headers, interim responses, lengths and extensions of chunks)
   * beyond as much as its body counts.
   */
  maxFetchFramingBytes: 512 * 1024,
  /**
   * Addresses of one name, all of which are checked before a connection is made at the first few.
   */
  maxNameAddresses: 512,
  /**
   * Names of one tenant that wait until the system is asked for them (those without a dot, and
   * those that DNS does not know).
   */
  maxSystemLookupsWaiting: 16,
  /**
   * Answers to fetches of one tenant, read while others are here (othersPresentMs); those of
   * fetchReadBurstMs need not wait.
   */
  fetchReadBytesPerSecond: 32 * 1024 * 1024,
  fetchReadBurstMs: 50,
  /**
   * Connections to hosts outside that one node keeps open without a request, of all tenants
   * together; the oldest are closed.
   */
  maxIdleConnections: 1_024,
  /**
   * Request and response bytes of fetches that one tenant may have in memory on one node at the
   * same time.
   */
  maxFetchBytesPerTenant: 96 * 1024 * 1024,
  /** Connecting to a host outside, DNS included; part of the timeout of whatever connects. */
  connectTimeoutMs: 10_000,
} as const;
