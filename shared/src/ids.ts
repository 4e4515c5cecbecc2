import { randomFillSync } from 'node:crypto';

/**
 * Prefix of every public id. One word per resource; the glossary in docs/ARCHITECTURE.md explains
 * each.
 */
export const ID_PREFIXES = {
  account: 'o_',
  user: 'u_',
  apiKey: 'key_',
  savedComponent: 'sc_',
  source: 'dc_',
  webhook: 'wh_',
  subscription: 'sub_',
  autoSubscription: 'asub_',
  delivery: 'dlv_',
  replay: 'rpl_',
  invocation: 'inv_',
  node: 'node_',
  app: 'app_',
  connectedAccount: 'apn_',
  dataStore: 'ds_',
  dynamicProps: 'dyp_',
  registryImport: 'imp_',
  workflow: 'p_',
  step: 'c_',
  httpTrigger: 'hi_',
  timerTrigger: 'ti_',
  deployment: 'd_',
  execution: 'exec_',
  send: 'snd_',
  sampleRequest: 'rcv_',
  auditEntry: 'aud_',
  notice: 'ntc_',
  tunnelRequest: 'treq_',
  person: 'per_',
  invitation: 'invite_',
  userSession: 'ses_',
  passkey: 'psk_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARS = 12;
const TIME_CHARS = 8;

/**
 * Makes an id such as `dc_1vZ8kQ0aB3xYpL9mWc2T`: eight base-62 characters of the current
 * millisecond, so that ids sort by the time they were made (and indexes grow at one end), then
 * twelve random ones (71 bits), so that they cannot be guessed.
 */
export function newId(kind: IdKind, nowMs: number = Date.now()): string {
  return ID_PREFIXES[kind] + base62Time(nowMs) + randomToken(RANDOM_CHARS);
}

/**
 * A random base-62 string of `length` characters (5.95 bits each) from the system's secure source.
 */
export function randomToken(length: number): string {
  let out = '';
  while (out.length < length) out += randomChar();
  return out;
}

const pool = new Uint8Array(4096);
let poolAt = pool.length;

// 248 = 4 × 62: bytes from 248 on are thrown away so that every character is equally likely.
function randomChar(): string {
  for (;;) {
    if (poolAt === pool.length) {
      randomFillSync(pool);
      poolAt = 0;
    }
    const byte = pool[poolAt++] as number;
    if (byte < 248) return ALPHABET.charAt(byte % 62);
  }
}

/** The millisecond in which an id was made; undefined for what is none. */
export function idTimeMs(id: string): number | undefined {
  const match = /^[a-z]+_([0-9A-Za-z]{8})[0-9A-Za-z]{12}$/.exec(id);
  if (match === null) return undefined;
  const digits = match[1] ?? '';
  let ms = 0;
  for (let at = 0; at < TIME_CHARS; at++) ms = ms * 62 + ALPHABET.indexOf(digits.charAt(at));
  return ms;
}

/** Smallest id of a millisecond. Its ids lie from here up to the floor of the next millisecond. */
export function idFloor(kind: IdKind, ms: number): string {
  return ID_PREFIXES[kind] + base62Time(ms);
}

function base62Time(ms: number): string {
  let out = '';
  let rest = Math.min(ms, 62 ** TIME_CHARS - 1);
  for (let i = 0; i < TIME_CHARS; i++) {
    out = ALPHABET.charAt(rest % 62) + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}
