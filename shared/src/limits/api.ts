import { defineLimits } from './define-limits.ts';

/** The REST API: what it takes, how much one answer has, and what it asks of the database. */
// biome-ignore format: one limit a line
export const API_LIMITS = defineLimits({
  minApiKeyChars: { default: 20, unit: 'characters', scope: 'node', why: 'shortest key accepted in `HEADWATER_API_KEY` and `HEADWATER_ADMIN_KEY`' },
  maxNameChars: { default: 256, unit: 'characters', scope: 'resource', why: 'the name of a source, webhook, account, key and the like' },
  maxQueriesPerTenant: { default: 2, unit: 'count', scope: 'account', why: 'requests to the REST API that query the database at once on one node; more wait' },
  maxQueries: { default: 5, unit: 'count', scope: 'node', why: 'such requests of all accounts; the database has ten connections for a node' },
  smallAnswerChars: { default: 256 * 1024, unit: 'characters', scope: 'account', why: 'characters read for an answer of the REST API that are free of the next pace' },
  answerCharsPerSecond: { default: 8 * 1024 * 1024, unit: 'characters per second', scope: 'account', why: 'pace at which larger answers are read, shown or not, while others are here; the next request waits' },
  maxApiBodyBytes: { default: 6 * 1024 * 1024, unit: 'bytes', scope: 'request', why: 'the body of a request to the REST API; over it 413' },
  maxEmailChars: { default: 320, unit: 'characters', scope: 'account', why: 'an e-mail address (RFC 5321, with room to spare)' },
  maxDescriptionChars: { default: 4_096, unit: 'characters', scope: 'resource', why: 'a description' },
  maxStacks: { default: 100, unit: 'count', scope: 'account', why: 'stacks: what `hw apply` has made from folders' },
  maxStackNameChars: { default: 128, unit: 'characters', scope: 'stack', why: 'the name of a stack' },
  maxStackResources: { default: 1_000, unit: 'count', scope: 'stack', why: 'resources that a stack has made' },
  maxStackHoldSeconds: { default: 600, unit: 'seconds', scope: 'stack', why: 'how long an apply holds its stack without a sign of life' },
  maxUrlChars: { default: 2_048, unit: 'characters', scope: 'resource', why: 'the URL of a webhook or of component code' },
  defaultPageSize: { default: 10, unit: 'count', scope: 'request', why: 'items of a list without `limit`' },
  maxExports: { default: 16, unit: 'count', scope: 'node', why: 'exports as NDJSON that are open, each with a page in memory; over it 429' },
  maxExportsPerTenant: { default: 2, unit: 'count', scope: 'account', why: 'of those; over it 429' },
  maxPageSize: { default: 100, unit: 'count', scope: 'request', why: 'items of a list' },
  maxPageBytes: { default: 2 * 1024 * 1024, unit: 'bytes', scope: 'answer', why: 'props of sources with their definitions, or records of a data store, on one page; a fuller page has fewer entries, at least one' },
  maxJsonDepth: { default: 128, unit: 'count', scope: 'request', why: 'levels of nesting in JSON; deeper values overflow the stack of whatever serialises them' },
  maxApiJsonValues: { default: 500_000, unit: 'count', scope: 'request', why: 'values in the JSON of a request to the REST API, which cost time whatever their bytes; over it 400' },
  maxApiJsonLists: { default: 100_000, unit: 'count', scope: 'request', why: 'lists and objects in that JSON; over it 400' },
  maxApiJsonNames: { default: 25_000, unit: 'count', scope: 'request', why: 'different member names in that JSON; over it 400' },
  maxIdChars: { default: 256, unit: 'characters', scope: 'request', why: 'an id or API key given to the REST API' },
  maxCursorChars: { default: 512, unit: 'characters', scope: 'request', why: 'a paging cursor' },
  maxFieldsChars: { default: 2_048, unit: 'characters', scope: 'request', why: '`include` and `exclude`, the fields that an answer is to have' },
  maxProblemErrors: { default: 100, unit: 'count', scope: 'answer', why: '`errors` in an answer; the rest is left out' },
  maxProblemTextChars: { default: 4_000, unit: 'characters', scope: 'answer', why: 'each text of a failure in an answer; a longer one is cut' },
});
