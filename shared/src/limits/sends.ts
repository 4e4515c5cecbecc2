import { defineLimits } from './define-limits.ts';

/** Limits of `$.send`: requests, e-mails and uploads. */
// biome-ignore format: one limit a line
export const SEND_LIMITS = defineLimits({
  sendTimeoutMs: { default: 5_000, unit: 'ms', scope: 'send', why: 'an attempt of `$.send.http`' },
  uploadTimeoutMs: { default: 30_000, unit: 'ms', scope: 'send', why: 'an upload of `$.send.s3`; the silence of a mail server' },
  maxUploadAnswerBytes: { default: 64 * 1024, unit: 'bytes', scope: 'send', why: 'what an S3 server answers to an upload: nothing, or a short error' },
  maxKeptSendAttempts: { default: 50, unit: 'count', scope: 'send', why: 'attempts that are kept, the newest' },
  maxSendsPerHost: { default: 16, unit: 'count', scope: 'account', why: 'attempts at once to one host, one bucket, or of e-mails, from one node' },
  maxSendsPerTenant: { default: 32, unit: 'count', scope: 'account', why: 'attempts of sends at once from one node' },
  maxSendsInFlight: { default: 256, unit: 'count', scope: 'node', why: 'attempts of sends at once' },
  maxHeldSends: { default: 2_000, unit: 'count', scope: 'node', why: 'sends in memory; one account has at most half' },
  maxHeldSendBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'node', why: 'texts of those sends' },
  maxSendHeadChars: { default: 256 * 1024, unit: 'characters', scope: 'send', why: 'all that `$.send.http` is given besides `data`, or the subject of an e-mail, as JSON; it is parsed' },
  maxSendFormChars: { default: 256 * 1024, unit: 'characters', scope: 'send', why: '`data` of `$.send.http` that is sent as a form, as JSON' },
  maxSendFormNameChars: { default: 1024 * 1024, unit: 'characters', scope: 'send', why: 'the names in that form, again for each entry of a list' },
  maxEmailBytes: { default: 1024 * 1024, unit: 'bytes', scope: 'send', why: 'subject, text and HTML of an e-mail together' },
  maxEmailSubjectChars: { default: 500, unit: 'characters', scope: 'send', why: 'the subject of an e-mail' },
  s3UploadIntervalMs: { default: 60_000, unit: 'ms', scope: 'account', why: 'what `$.send.s3` was given in this time goes into one object for each bucket and prefix' },
  maxS3LinesPerObject: { default: 5_000, unit: 'count', scope: 'send', why: 'lines of one such object' },
  maxS3ObjectBytes: { default: 12 * 1024 * 1024, unit: 'bytes', scope: 'send', why: 'what those lines were given as; a larger one goes alone' },
  maxS3PrefixChars: { default: 512, unit: 'characters', scope: 'send', why: "the prefix of an object's name" },
  maxS3RegionChars: { default: 64, unit: 'characters', scope: 'account', why: 'the region of its S3 server' },
  maxS3CredentialChars: { default: 256, unit: 'characters', scope: 'account', why: '`access_key_id` and `secret_access_key` of its S3 server, each' },
});
