import { LIMITS } from '@headwater/shared';
import type { Sealer } from '../secrets/seal.ts';
import type { Sql } from '../store/database.ts';
import { readEnvironmentValues } from '../store/environment-variables.ts';

/** Environment variables for the steps of workflows, in memory: they are asked for at every step that names some. */
export interface OpenEnvironment {
  /** Values by name; one that is not there is left out. Throws SealError where one does not open. */
  open(accountId: string, names: readonly string[]): Promise<Record<string, string>>;
  /** After a change, on every node (LISTEN). */
  forget(accountId: string): void;
  forgetAll(): void;
}

interface OpenEnvironmentOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'open'>;
}

/** What an entry takes beside its value, about. */
const ENTRY_BYTES = 200;

export function createOpenEnvironment({ sql, sealer }: OpenEnvironmentOptions): OpenEnvironment {
  /** Account → name → value, undefined being one that is not there. */
  const accounts = new Map<string, Map<string, string | undefined>>();
  let bytes = 0;
  let changes = 0;

  function keep(accountId: string, values: ReadonlyMap<string, string | undefined>): void {
    const known = accounts.get(accountId) ?? new Map<string, string | undefined>();
    accounts.set(accountId, known);
    for (const [name, value] of values) {
      if (known.has(name)) bytes -= bytesOf(known.get(name));
      known.set(name, value);
      bytes += bytesOf(value);
    }
    if (bytes > LIMITS.maxCachedEnvironmentBytes) forgetAll();
  }

  async function read(accountId: string, names: readonly string[]): Promise<Map<string, string | undefined>> {
    const changesBefore = changes;
    const sealed = await readEnvironmentValues(sql, accountId, names);
    const opened = names.map((name): [string, string | undefined] => {
      const text = sealed.get(name);
      return [name, text === undefined ? undefined : sealer.open(accountId, text)];
    });
    const values = new Map(opened);
    // A change that came while we read may have made the answer old: it serves this step but is not kept.
    if (changes === changesBefore) keep(accountId, values);
    return values;
  }

  function forgetAll(): void {
    changes += 1;
    bytes = 0;
    accounts.clear();
  }

  return {
    async open(accountId, names) {
      const known = accounts.get(accountId);
      const missing = names.filter((name) => known?.has(name) !== true);
      const fresh = missing.length === 0 ? undefined : await read(accountId, missing);
      // Without a prototype: a variable may be called __proto__.
      const values = Object.create(null) as Record<string, string>;
      for (const name of names) {
        const value = fresh?.has(name) === true ? fresh.get(name) : known?.get(name);
        if (value !== undefined) values[name] = value;
      }
      return values;
    },
    forget(accountId) {
      changes += 1;
      for (const value of accounts.get(accountId)?.values() ?? []) bytes -= bytesOf(value);
      accounts.delete(accountId);
    },
    forgetAll,
  };
}

function bytesOf(value: string | undefined): number {
  return ENTRY_BYTES + 2 * (value?.length ?? 0);
}
