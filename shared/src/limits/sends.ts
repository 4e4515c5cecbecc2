/** What workflows send with `$.send`: requests, e-mails and uploads. */
export const SEND_LIMITS = {
  /** One attempt of `$.send.http`, and one upload or e-mail. */
  sendTimeoutMs: 5_000,
  uploadTimeoutMs: 30_000,
  /** What an S3 server answers to an upload: nothing, or a short error. */
  maxUploadAnswerBytes: 64 * 1024,
  /** Of one send: its newest attempts, which its owner may let begin anew as often as they like. */
  maxKeptSendAttempts: 50,
  /**
   * Attempts of sends at the same time on one node: to one host (or e-mails, or one bucket), of one
   * tenant, and of all.
   */
  maxSendsPerHost: 16,
  maxSendsPerTenant: 32,
  maxSendsInFlight: 256,
  /** Sends that one node holds in memory, of one tenant at most half of them; their texts. */
  maxHeldSends: 2_000,
  maxHeldSendBytes: 64 * 1024 * 1024,
  /**
   * What is parsed of one send, all but its `data` or `payload`, as JSON: parsing takes time,
   * whatever the bytes.
   */
  maxSendHeadChars: 256 * 1024,
  /**
   * `data` that is sent as a form, as JSON. The names in it: that of a list stands before each of
   * its entries, thousands of times.
   */
  maxSendFormChars: 256 * 1024,
  maxSendFormNameChars: 1024 * 1024,
  /** Subject, text and HTML of one e-mail together. */
  maxEmailBytes: 1024 * 1024,
  maxEmailSubjectChars: 500,
  /** What `$.send.s3` was given in one interval goes into one object for each bucket and prefix. */
  s3UploadIntervalMs: 60_000,
  maxS3LinesPerObject: 5_000,
  maxS3ObjectBytes: 12 * 1024 * 1024,
  maxS3PrefixChars: 512,
  /**
   * How an account's S3 server is reached: its region, and each half of the credentials. Providers
   * stay far below.
   */
  maxS3RegionChars: 64,
  maxS3CredentialChars: 256,
} as const;
