/*
 * Numbers of the messages that cross the wall of an isolate, which are in messages.ts. Numbers,
 * because they cross for every event. Only the two codecs use them: guest/isolate-codec.ts and
 * worker/isolate-codec.ts.
 */

/** Codes of a GuestPost: `post(code, run, a, b, c)`. */
export const POST = {
  emit: 1,
  log: 2,
  respond: 3,
  dbSet: 4,
  fetch: 5,
  fetchAbort: 6,
  timerSet: 7,
  timerClear: 8,
  done: 9,
  failed: 10,
  timerRef: 11,
  webCrypto: 40,
  dataStore: 41,
  stepExport: 50,
  stepSend: 51,
  stepFlow: 52,
  stepRespond: 53,
  stepProps: 54,
} as const;

/** Codes of a GuestAsk: `ask(code, a, b, c)`. */
export const ASK = {
  random: 1,
  hash: 2,
  hmac: 3,
  decodeUtf8: 4,
  encodeUtf8: 5,
  zlib: 30,
  nodeCrypto: 31,
  decodeText: 40,
  encodingName: 41,
  compress: 42,
  url: 43,
  sourceMap: 60,
} as const;

/** Codes of a GuestCall: `dispatch(code, run, a, b, c, d)`. */
export const CALL = {
  loading: 0,
  load: 1,
  start: 2,
  timer: 3,
  fetched: 4,
  outline: 5,
  end: 6,
  limits: 7,
  answered: 40,
} as const;
