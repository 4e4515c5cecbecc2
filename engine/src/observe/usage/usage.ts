import { platformLimit } from '@headwater/shared';
import { throwFields, type Usage, type UsageDay, type UsageRecord } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import { nothingUsed, type UseCount } from '../../events/index.ts';
import { readUsageDays } from './usage.sql.ts';

const DAY_MS = 24 * 3600 * 1000;
const DEFAULT_DAYS = 30;

/** Usage of accounts, day by day, as the API sees it. */
export function createUsage({ sql, counts, nowMs }: { sql: Sql; counts: UseCount; nowMs: () => number }): Usage {
  return {
    count: counts.use,
    async days({ accountId }, { untilMs = nowMs(), sinceMs: given }) {
      const beforeMs = Math.ceil(untilMs / DAY_MS) * DAY_MS;
      const sinceMs = given ?? beforeMs - DEFAULT_DAYS * DAY_MS;
      if (sinceMs >= untilMs) throwFields([{ path: 'since', message: 'must be before until' }]);
      const fromMs = Math.floor(sinceMs / DAY_MS) * DAY_MS;
      const limit = platformLimit('maxUsageDays', (beforeMs - fromMs) / DAY_MS);
      if (limit.used > limit.value)
        throwFields([{ path: 'since', message: `makes ${limit.used} days, and may make ${limit.value}`, limit }]);
      const known = await readUsageDays(sql, accountId, { from: dayOf(fromMs), last: dayOf(beforeMs - DAY_MS) });
      return recordOf(accountId, { fromMs, beforeMs }, known);
    },
  };
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function recordOf(
  accountId: string,
  { fromMs, beforeMs }: { fromMs: number; beforeMs: number },
  known: readonly UsageDay[],
): UsageRecord {
  const byDay = new Map(known.map((day) => [day.day, day]));
  const days = Array.from({ length: (beforeMs - fromMs) / DAY_MS }, (_, at): UsageDay => {
    const day = dayOf(fromMs + at * DAY_MS);
    return byDay.get(day) ?? { day, ...emptyDay() };
  });
  const totals = emptyDay();
  const counters = Object.keys(totals) as (keyof typeof totals)[];
  for (const day of known)
    for (const counter of counters)
      totals[counter] =
        counter === 'storageBytes' ? Math.max(totals[counter], day[counter]) : totals[counter] + day[counter];
  return { accountId, sinceMs: fromMs, untilMs: beforeMs, totals, days };
}

function emptyDay(): Omit<UsageDay, 'day'> {
  return { ...nothingUsed(), runs: 0, events: 0, deliveries: 0, storageBytes: 0 };
}
