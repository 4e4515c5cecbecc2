/*
 * The seam between an isolate and the process around it. Numbers, because they cross for every
 * event. Only primitives and Uint8Array cross, in both directions, always as copies.
 */

/** Guest → process, `post(kind, run, a, b, c)`: no answer, kept in order. */
export const POST = {
  /** a: event JSON, b: JSON of id, name, summary, ts, emittedAtMs. */
  emit: 1,
  /** a: a LogHead as text; b: message. */
  log: 2,
  /** a: JSON of status and headers; b: body. */
  respond: 3,
  /** a: key, b: value as JSON. */
  dbSet: 4,
  /** a: call, b: JSON of url, method, headers, redirect; c: body, if there is one. */
  fetch: 5,
  /** a: call. */
  fetchAbort: 6,
  /** a: timer, b: milliseconds; -1 is "as soon as possible". c: `interval`, `unref`, or nothing. */
  timerSet: 7,
  /** a: timer. */
  timerClear: 8,
  /** a: timer, b: 1 where it holds its run open, 0 where it does not. */
  timerRef: 11,
  /**
   * The entry of the run ended well: the run is over when nothing that it began is open. a: what
   * its entry answers, if it answers anything.
   */
  done: 9,
  /**
   * The run threw. a: JSON of message, stack, whether it is a ConfigurationError, and limit where
   * that is why.
   */
  failed: 10,
  /** a: call, b: JSON of a call of `crypto.subtle`, c: its bytes. */
  webCrypto: 40,
  /**
   * a: call, b: JSON of a DataStoreCall without its value; c: the value as JSON, if there is one.
   */
  dataStore: 41,
  /** a: name, b: value as JSON. */
  stepExport: 50,
  /** a: kind, b: JSON of what is sent. */
  stepSend: 51,
  /**
   * Right before `done`. a: JSON of a FlowAction without its context, b: the context as JSON, if
   * there is one.
   */
  stepFlow: 52,
  /** As `respond`; c: `now` where it is not for the end of the workflow. */
  stepRespond: 53,
  /**
   * Before `run` is called. a: JSON object of the props that expressions have made, b: JSON array
   * of those that are cut.
   */
  stepProps: 54,
} as const;

/** Process → guest, `dispatch(kind, run, a, b, c, d)`. */
export const CALL = {
  /** The module is about to be evaluated on behalf of this run. a: JSON of GuestLimits. */
  loading: 0,
  /** a: the module's namespace. Answers an error's JSON, or undefined. */
  load: 1,
  /**
   * a: name of the entry, b: dedupe or '', c: props JSON, d: what the entry gets, as RunOrder says.
   */
  start: 2,
  /** a: timer. */
  timer: 3,
  /** a: call, b: JSON of the outcome, c: body. */
  fetched: 4,
  /** Answers the component's outline as JSON. */
  outline: 5,
  /** The run is over from outside: whatever it still does is ignored. */
  end: 6,
  /** a: JSON of GuestLimits, for runs that start from now on. */
  limits: 7,
  /** The answer to POST.webCrypto and POST.dataStore. a: call, b: JSON, c: bytes. */
  answered: 40,
} as const;

/**
 * What the guest asks for and gets at once, `ask(kind, …)`. An answer of the other type than
 * expected is an error message; undefined: ask again later.
 */
export const ASK = {
  /** a: bytes → Uint8Array. */
  random: 1,
  /** a: algorithm, b: data → Uint8Array. */
  hash: 2,
  /** a: algorithm, b: key, c: data → Uint8Array. */
  hmac: 3,
  /** b: bytes → string. */
  decodeUtf8: 4,
  /** a: string → Uint8Array. */
  encodeUtf8: 5,
  /** a: `f` (fatal) or `-`, `s` (a stream goes on) or `-`, the encoding; b: bytes → `v` + text. */
  decodeText: 40,
  /** a: a label of an encoding → `v` + its name. */
  encodingName: 41,
  /**
   * a: `c`, `d` or `p` and the format of a CompressionStream; b: data → Uint8Array; see
   * process/answer-web-asks.ts.
   */
  compress: 42,
  /**
   * a: JSON of an operation on a URL → `v` + JSON of its parts, or `v` for none; see
   * process/answer-web-asks.ts.
   */
  url: 43,
  /** a: JSON of method and options, b: data → Uint8Array; see process/ask-zlib.ts. */
  zlib: 30,
  /**
   * a: JSON of operation and arguments, b: data, c: key or second data → Uint8Array; see
   * process/ask-crypto.ts.
   */
  nodeCrypto: 31,
  /** → JSON text of the component's source map, or ''. */
  sourceMap: 60,
} as const;
