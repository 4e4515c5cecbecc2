import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseTimer } from '../props/parse-typed.ts';
import { isFields } from './stack-file.ts';

/** The places outside of the file to which values lead. */
export interface Places {
  /** The environment of the shell that runs `hw`. */
  environment: Readonly<Record<string, string | undefined>>;
  folder: string;
  /** Id of a data store by its name; undefined if it does not exist yet. */
  storeId(name: string): string | undefined;
  /** The id of a connected account by its id or name. */
  accountId(name: string): string | undefined;
}

/** Something that a value names is not there. */
export class Unresolved extends Error {}

/** The name of the variable, for `{ $env: NAME }`. */
function secretName(value: unknown): string | undefined {
  if (!isFields(value) || typeof value['$env'] !== 'string' || Object.keys(value).length !== 1) return undefined;
  return value['$env'];
}

/** Every variable that a value names. */
export function secretNames(value: unknown): string[] {
  const name = secretName(value);
  if (name !== undefined) return [name];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretNames) : [];
}

/**
 * The value as the API takes it. What the environment does not have is left out where `partly`.
 * Throws Unresolved.
 */
export function resolveValue(value: unknown, places: Places, partly: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, places, partly));
  if (!isFields(value)) return value;
  const [[word, name] = []] = Object.entries(value);
  if (typeof name === 'string' && word?.startsWith('$') === true && Object.keys(value).length === 1) {
    return resolveReference(word, name, places, partly);
  }
  const entries = Object.entries(value).map(([key, item]) => [key, resolveValue(item, places, partly)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}

function resolveReference(word: string, name: string, places: Places, partly: boolean): unknown {
  switch (word) {
    case '$env': {
      const value = places.environment[name];
      if (value === undefined && !partly) throw new Unresolved(`needs the environment variable ${name}`);
      return value;
    }
    case '$file':
      try {
        return readFileSync(path.resolve(places.folder, name), 'utf8');
      } catch (cause) {
        throw new Unresolved(`names the file ${name}, which cannot be read`, { cause });
      }
    case '$data_store': {
      const id = places.storeId(name);
      if (id === undefined && !partly) throw new Unresolved(`names the data store ${name}, which is not there`);
      return id;
    }
    case '$account': {
      const id = places.accountId(name);
      if (id === undefined) throw new Unresolved(`names the connected account ${name}, which is not there`);
      return { authProvisionId: id };
    }
    default:
      throw new Unresolved(`has ${word}; there are $env, $file, $data_store and $account`);
  }
}

/**
 * Whether the account has the value, but for secrets, which it does not tell. `type`: of a prop.
 */
export function isThere(wanted: unknown, there: unknown, places: Places, type = ''): boolean {
  if (secretName(wanted) !== undefined) return true;
  if (type === '$.interface.timer') return isDeepStrictEqual(timerOf(wanted), timerOf(there));
  if (isFields(wanted) && isFields(there) && secretNames(wanted).length > 0) {
    return Object.entries(wanted).every(([key, value]) => isThere(value, there[key], places));
  }
  if (wanted === null) return there === undefined || there === null;
  return isDeepStrictEqual(resolveValue(wanted, places, true), there);
}

/** Converts every notation of a timer to the form of the API's answers. */
function timerOf(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'string') return timerOf(parseTimer(String(value)));
  if (!isFields(value)) return value;
  const { cron, timezone = 'UTC', intervalSeconds, interval_seconds: seconds } = value;
  return typeof cron === 'string' ? { cron, timezone } : { seconds: intervalSeconds ?? seconds };
}

/** A timer as the API takes it. */
export function timerValue(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'string' ? parseTimer(String(value)) : value;
}

/** Secrets of a thing: variables by name, and text that the account does not tell either. */
export interface Secrets {
  names: readonly string[];
  hidden: readonly string[];
}

const HASH_BYTES = 16;

/**
 * A slow hash, so that a reader of the state cannot try many secrets. Undefined without secrets, or
 * if the environment lacks one.
 */
export function fingerprint({ names, hidden }: Secrets, { environment }: Places, salt?: string): string | undefined {
  const values = [...new Set(names)].toSorted().map((name) => [name, environment[name]] as const);
  if (values.length + hidden.length === 0 || values.some(([, value]) => value === undefined)) return undefined;
  const used = salt ?? randomBytes(HASH_BYTES).toString('base64url');
  const hash = scryptSync(JSON.stringify([values, hidden]), used, HASH_BYTES);
  return `${used}:${hash.toString('base64url')}`;
}

/**
 * Whether the secrets are those of the fingerprint. Where one is missing here, they are taken for
 * it.
 */
export function isFingerprintOf(known: string | undefined, secrets: Secrets, places: Places): boolean {
  const now = fingerprint(secrets, places, known?.split(':')[0]);
  if (now === undefined) return true;
  if (known === undefined || known.length !== now.length) return false;
  return timingSafeEqual(Buffer.from(known), Buffer.from(now));
}
