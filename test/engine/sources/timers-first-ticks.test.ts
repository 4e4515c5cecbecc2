import { LIMITS } from '@headwater/shared';
import { expect, it } from 'vitest';
import { endSourceChange } from '../../../engine/src/sources/change-source.sql.ts';
import { accountDatabase } from '../../support/account-database.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { insertSource, leaseSource } from '../../support/source-rows.ts';

const world = accountDatabase();

/** All of them in one piece took twice as long and more. */
const SOON_MS = 6;

it('first ticks of as many rare crons as a source may have are not worked out in one piece', async () => {
  const { sql, accountId } = world;
  const sourceId = await insertSource(sql, accountId);
  const set = async (day: string) => {
    const timers = Array.from({ length: LIMITS.maxTimerCrons }, (_, i) => ({
      name: `t${i}`,
      schedule: { cron: `${i} 0 29 2 ${day}` },
    }));
    const lease = await leaseSource(sql, accountId, sourceId);
    return longestTurnMs(() => endSourceChange(sql, lease, { httpProps: [], timers }));
  };
  // The first are not compiled yet.
  for (const day of ['+1', '+2']) await set(day);
  const longestMs = [];
  for (const day of ['+3', '+4', '+5', '+6']) longestMs.push(await set(day));
  expect(Math.min(...longestMs)).toBeLessThan(SOON_MS * slowness());
  const due = await sql`select from timers where source_id = ${sourceId} and due_ms > ${Date.now()}`;
  expect(due).toHaveLength(LIMITS.maxTimerCrons);
});
