/**
 * Requests to endpoints and to the REST API as they arrive: their bodies, and the turns that busy
 * accounts take.
 */
export const INGRESS_LIMITS = {
  /** Body of a request to an endpoint. Over it: 413. */
  maxHttpBodyBytes: 512 * 1024,
  /**
   * Bodies over smallBodyBytes are read at a pace while requests of other accounts arrive as well
   * (within othersPresentMs): of each account, largeBodyBytesPerSecond for each processor of the
   * node. Where the node's thread is busy, requests of an account that must give way
   * (lightPerSecond) are as well, busyRequestsPerSecond for each processor; those of busyBurstMs
   * need not wait. One that would wait longer than maxRequestWaitMs: 429.
   */
  smallBodyBytes: 16 * 1024,
  largeBodyBytesPerSecond: 512 * 1024,
  /** Of one account's bodies over smallBodyBytes: so many are made into events at a time. */
  maxBodyChecksPerTenant: 2,
  othersPresentMs: 1_000,
  /**
   * Requests, runs and deliveries of one tenant a second, beyond which it is busy and gives way to
   * those who are not; as many at once are none too many.
   */
  lightPerSecond: 400,
  lightBurst: 8,
  busyRequestsPerSecond: 200,
  busyBurstMs: 50,
  maxRequestWaitMs: 20_000,
  /**
   * Of bodies over smallBodyBytes, or of no announced length, that one account sends, while others
   * send as well.
   */
  bodyReadBytesPerSecond: 16 * 1024 * 1024,
  bodyReadBurstMs: 20,
  /**
   * What each piece of such a body counts at least, for that pace and maxUnfinishedBodyBytes: a
   * chunk of one byte costs as much as one of these.
   */
  minBodyPieceBytes: 512,
  /**
   * Of requests to the REST API with the same key, while those of other accounts arrive as well,
   * and of all whose key the node does not know or that have none, so many go on at once and the
   * next after a rest: 500 a second. Of those to one account's endpoints 4000.
   */
  requestsAtOnce: 4,
  requestsRestMs: 8,
  endpointRequestsAtOnce: 16,
  endpointRequestsRestMs: 4,
  /**
   * Fields of a form sent to an endpoint; a form with more is given to the component as the string
   * it came as. The REST API refuses forms and objects with more: 400.
   */
  maxFormFields: 2_000,
  /**
   * The header lines of one part of a multipart form; a form with a longer one arrives as a string.
   */
  maxPartHeadBytes: 8 * 1024,
} as const;
