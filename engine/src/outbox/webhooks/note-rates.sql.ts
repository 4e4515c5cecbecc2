import { LIMITS } from '@headwater/shared';
import type { Transaction } from '../../db/index.ts';
import type { AdaptiveRate } from '../../contract/index.ts';
import { adaptRate, type RateSign } from './adaptive-rate.ts';

/**
 * Webhooks that adapt to their receivers, by what their attempts say. The caller has locked their
 * rows. Its lane goes by the new rate from its next claim on.
 */
export async function noteRates(tx: Transaction, signs: ReadonlyMap<string, readonly RateSign[]>): Promise<void> {
  const rows = await tx<{ id: string; rate: AdaptiveRate; ceiling: number }[]>`
    select id, adaptive_rate as rate, coalesce(rate_per_second, ${LIMITS.adaptiveRatePerSecond}::int4) as ceiling
    from webhooks where id = any(${[...signs.keys()]}::text[]) and adaptive_rate is not null`;
  const nowMs = Date.now();
  const changed = rows.flatMap(({ id, rate, ceiling }) => {
    const next = adaptRate(rate, signs.get(id) ?? [], ceiling, nowMs);
    return next === undefined ? [] : [{ id, next }];
  });
  if (changed.length === 0) return;
  await tx`
    update webhooks w set adaptive_rate = c.rate::jsonb
    from unnest(${changed.map(({ id }) => id)}::text[], ${changed.map(({ next }) => JSON.stringify(next))}::text[])
      as c(id, rate)
    where w.id = c.id`;
}
