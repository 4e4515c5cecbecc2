import { WEBHOOKS_CHANNEL } from '../events/index.ts';
import { every, type Sql } from '../db/index.ts';
import type { Log } from '../contract/index.ts';
import type { RunCommitter } from './commit/run-committer.ts';
import { deleteNotices, takeNotices } from '../outbox/index.ts';

interface TellOptions {
  sql: Sql;
  committer: Pick<RunCommitter, 'commit'>;
  log: Log;
}

const LOOK_EVERY_MS = 1_000;

/**
 * Stores notices about webhooks as events of their accounts, on the channel `$webhooks`. If a node
 * dies before it deletes a notice, another node handles it. The last ids are remembered, so such a
 * repeat is dropped as for any emitter. Returns a stop.
 */
export function startTelling(options: TellOptions): () => Promise<void> {
  return every(
    LOOK_EVERY_MS,
    () => tellAll(options),
    (err) => options.log.warn({ err }, 'notices of webhooks could not be stored as events'),
  );
}

async function tellAll({ sql, committer }: TellOptions): Promise<void> {
  for (;;) {
    const notices = await takeNotices(sql);
    if (notices.length === 0) return;
    for (const [accountId, ofAccount] of Map.groupBy(notices, (notice) => notice.account_id)) {
      const emittedAtMs = Date.now();
      await committer.commit({
        accountId,
        sourceId: accountId,
        final: true,
        dedupe: 'unique',
        emits: ofAccount.map(({ id, data }) => ({ data, name: WEBHOOKS_CHANNEL, id, emittedAtMs })),
        dbWrites: new Map(),
      });
    }
    await deleteNotices(
      sql,
      notices.map(({ id }) => id),
    );
  }
}
