import type { ExceededLimit } from '@headwater/shared';
import type { Sql } from '../../db/database.ts';
import { addNotice } from '../../outbox/webhooks/webhook-notices.sql.ts';

/** From here on an account is told, once each until it is far from the limit again. */
const PERCENTS = [100, 80] as const;
const FAR_PERCENT = 60;

/**
 * Tells an account, on its channel `$webhooks`, of limits that it has reached or is near since it
 * was looked at last. Nodes that look at the same time tell it once.
 */
export async function tellNearLimits(sql: Sql, accountId: string, held: readonly ExceededLimit[]): Promise<void> {
  const shares = held
    .filter(({ value }) => value > 0)
    .map((limit) => ({ limit, percent: (limit.used / limit.value) * 100 }));
  const far = shares.filter(({ percent }) => percent < FAR_PERCENT).map(({ limit }) => limit.name);
  const near = shares.flatMap(({ limit, percent }) => {
    const reached = PERCENTS.find((one) => percent >= one);
    return reached === undefined ? [] : [{ limit, reached }];
  });
  await sql.begin(async (tx) => {
    await tx`delete from limit_notices where account_id = ${accountId} and limit_name = any(${far}::text[])`;
    for (const { limit, reached } of near) {
      const told = await tx`
        insert into limit_notices as n (account_id, limit_name, percent)
        select id, ${limit.name}, ${reached}::int2 from accounts where id = ${accountId}
        on conflict (account_id, limit_name) do update set percent = excluded.percent where n.percent < excluded.percent
        returning percent`;
      if (told.length === 0) continue;
      const { name, value, used } = limit;
      await addNotice(tx, { type: 'limit.near', accountId, about: { limit: name, value, used, percent: reached } });
    }
  });
}
