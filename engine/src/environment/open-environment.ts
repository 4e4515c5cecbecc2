import { createGiveWay, HeadwaterError, LIMITS } from '@headwater/shared';
import { bytesInSealed, sealedBytesOf, type Sealer, tooManySecrets } from '../secrets/index.ts';
import type { Sql } from '../db/index.ts';
import { readEnvironmentValues } from './environment-variables.sql.ts';
import { createKeptValues, type Values } from './kept-values.ts';

/**
 * Environment variables for the steps of workflows, in memory: they are asked for at every step
 * that names some.
 */
export interface OpenEnvironment {
  /**
   * Values by name; one that is not there is left out. Throws SealError where one does not open,
   * and RESOURCE_LIMIT for more than may be read for one run (maxRunSecretBytes); those that are in
   * memory already are not counted.
   */
  open(accountId: string, names: readonly string[]): Promise<Record<string, string>>;
  /** After a change, on every node (LISTEN). */
  forget(accountId: string): void;
  forgetAll(): void;
}

interface OpenEnvironmentOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'open'>;
}

/** Runs that need the same at the same time share one read. */
export function createOpenEnvironment(options: OpenEnvironmentOptions): OpenEnvironment {
  const kept = createKeptValues(LIMITS.maxCachedEnvironmentBytes);
  /** Account → names → read, of those that no change has come since. */
  const reading = new Map<string, Map<string, Promise<Values>>>();

  function read(accountId: string, names: readonly string[]): Promise<Values> {
    const ofAccount = reading.get(accountId) ?? new Map<string, Promise<Values>>();
    reading.set(accountId, ofAccount);
    const key = names.join();
    const known = ofAccount.get(key);
    if (known !== undefined) return known;
    // A change that came while we read may have made the answer old: it serves these steps but is
    // not kept.
    const isCurrent = () => reading.get(accountId) === ofAccount;
    const fresh = readAndOpen(options, accountId, names).then((values) => {
      if (isCurrent()) kept.keep(accountId, values);
      return values;
    });
    ofAccount.set(key, fresh);
    const end = () => {
      ofAccount.delete(key);
      if (ofAccount.size === 0 && isCurrent()) reading.delete(accountId);
    };
    fresh.then(end, end);
    return fresh;
  }

  return {
    async open(accountId, names) {
      // Read before the query: by its end they may be evicted.
      const known = new Map(names.map((name) => [name, kept.get(accountId, name)]));
      const missing = names.filter((name) => known.get(name) === undefined);
      const fresh = missing.length === 0 ? undefined : await read(accountId, missing);
      // Without a prototype: a variable may be called __proto__.
      const values = Object.create(null) as Record<string, string>;
      for (const [name, before] of known) {
        const value = fresh?.get(name) ?? before;
        if (typeof value === 'string') values[name] = value;
      }
      return values;
    },
    forget(accountId) {
      reading.delete(accountId);
      kept.forget(accountId);
    },
    forgetAll() {
      reading.clear();
      kept.forgetAll();
    },
  };
}

/** In turns with others: a thousand short ones take the thread some ten milliseconds. */
async function readAndOpen(
  { sql, sealer }: OpenEnvironmentOptions,
  accountId: string,
  names: readonly string[],
): Promise<Values> {
  const maxBytes = sealedBytesOf(LIMITS.maxRunSecretBytes, names.length);
  const read = await readEnvironmentValues(sql, accountId, names, maxBytes);
  if (read.kind === 'too-large') {
    const { code, message, limit } = tooManySecrets(bytesInSealed(read.bytes, read.count));
    throw new HeadwaterError(code, message, { limit });
  }
  const giveWay = createGiveWay();
  const values = new Map<string, string | null>();
  for (const name of names) {
    const text = read.values.get(name);
    values.set(name, text === undefined ? null : sealer.open(accountId, text));
    await giveWay();
  }
  return values;
}
