import type { Log } from '../contract/index.ts';
import { every, type Sql } from '../db/index.ts';
import { ID_PREFIXES } from '@headwater/shared';
import { recordKeyUses } from './api-keys.sql.ts';
import { recordSessionUses } from './users.sql.ts';

/** When keys and sessions were used last, told to the database now and then. */
export interface KeyUses {
  /** The id of a key, or of a session of a member. */
  note(id: string): void;
  /** Stores what was noted. Rejects while the database is away. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const FLUSH_EVERY_MS = 30_000;
const MAX_KEYS = 10_000;

export function createKeyUses(sql: Sql, log: Log, nowMs: () => number = Date.now): KeyUses {
  const usedAtMs = new Map<string, number>();
  async function flush(): Promise<void> {
    if (usedAtMs.size === 0) return;
    const uses = [...usedAtMs];
    usedAtMs.clear();
    const isSession = ([id]: readonly [string, number]) => id.startsWith(ID_PREFIXES.userSession);
    const sessions = uses.filter(isSession);
    if (sessions.length > 0) await recordSessionUses(sql, sessions);
    if (sessions.length < uses.length)
      await recordKeyUses(
        sql,
        uses.filter((use) => !isSession(use)),
      );
  }
  // A use that could not be stored is not worth keeping: a key that is used is noted again within
  // seconds.
  const stop = every(FLUSH_EVERY_MS, flush, (err) => log.warn({ err }, 'the last use of keys was not stored'));
  return {
    note(id) {
      if (usedAtMs.size < MAX_KEYS) usedAtMs.set(id, nowMs());
    },
    flush,
    async stop() {
      await stop();
      await flush().catch((err: unknown) => log.warn({ err }, 'the last use of keys was not stored'));
    },
  };
}
