import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdaptiveRate } from '../../../engine/src/contract/webhook-requests.ts';
import { adaptRate, type RateSign } from '../../../engine/src/outbox/webhooks/adaptive-rate.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const START_MS = 1_800_000_000_000;
const CEILING = 100;

/** A receiver and the attempts of each second, at most as many as it is allowed. */
function watching() {
  let rate: AdaptiveRate = {};
  let nowMs = START_MS;
  return {
    second(latencyMs: number, isOverload = false): number {
      nowMs += 1_000;
      const sign: RateSign = { beganAtMs: nowMs - 500, isOverload, ...(isOverload ? {} : { latencyMs }) };
      rate = adaptRate(rate, [sign], CEILING, nowMs) ?? rate;
      return rate.perSecond ?? CEILING;
    },
    /** Signs of attempts that began before the last second. */
    late: () => adaptRate(rate, [{ beganAtMs: nowMs - 2_000, isOverload: true }], CEILING, nowMs),
    refused: () => adaptRate(rate, [{ beganAtMs: nowMs, isOverload: false }], CEILING, nowMs + 1_000),
  };
}

test('a sign of overload halves the rate once, and each second without one adds a hundredth of the ceiling', () => {
  const watched = watching();
  expect([watched.second(10), watched.second(10, true), watched.second(10, true)]).toEqual([100, 50, 25]);
  // They began before the rate was lowered, or never reached the receiver.
  expect([watched.late(), watched.refused()]).toEqual([undefined, undefined]);
  expect([watched.second(10), watched.second(10)]).toEqual([26, 27]);
  for (let n = 0; n < 20; n++) watched.second(10, true);
  expect(watched.second(10, true)).toBe(1);
  for (let n = 0; n < 100; n++) watched.second(10);
  expect(watched.second(10)).toBe(100);
});

test('answers that become slow lower it; those that are slow for good are the usual ones after a while', () => {
  const watched = watching();
  for (let n = 0; n < 5; n++) watched.second(50);
  // Twice as slow is not slow where it is a matter of milliseconds.
  expect(watched.second(120)).toBe(100);
  expect(watched.second(400)).toBe(50);
  let least = 100;
  for (let n = 0; n < 240; n++) least = Math.min(least, watched.second(400));
  expect(least).toBeLessThan(10);
  expect(watched.second(400)).toBe(100);
});

let hw: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  [hw, receiver] = await Promise.all([startHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});

const EMITTER = `export default { name: 'Emit', version: '1', run({ count }) {
  for (let n = 0; n < count; n++) this.$emit({ n });
} };`;

test('a webhook that adapts sends fewer a second after 429, says so, and its rate grows as it heals', async () => {
  const settings = {
    url: receiver.url,
    rate_per_second: 40,
    adaptive_rate: true,
    retry_schedule_seconds: [1, 1, 1, 1],
  };
  const { data: webhook } = await hw.api('POST', '/webhooks', settings);
  expect(webhook).toMatchObject({ adaptive_rate: true, current_rate_per_second: 40 });
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  const emit = (count: number) => hw.api('POST', `/sources/${source.id}/run`, { event: { count } });
  const rate = async () => (await hw.api('GET', `/webhooks/${webhook.id}`)).data.current_rate_per_second;

  receiver.answer = { status: 429 };
  await emit(3);
  await eventually(async () => (await rate()) < 20, { what: 'the rate is lowered more than once' });
  receiver.answer = { status: 200 };
  const lowered = await rate();
  await eventually(
    async () => {
      const { data } = await hw.api('GET', `/webhooks/${webhook.id}/deliveries`, { status: 'delivered' });
      return data.length === 3;
    },
    { timeoutMs: 20_000 },
  );
  await eventually(async () => {
    await emit(1);
    return (await rate()) > lowered;
  });
  const { data: stats } = await hw.api('GET', `/webhooks/${webhook.id}/stats`);
  expect(stats.current_rate_per_second).toBe(await rate());

  // The setting's end forgets the rate that was found.
  const { data: off } = await hw.api('PUT', `/webhooks/${webhook.id}`, { adaptive_rate: false });
  expect(off).toMatchObject({ adaptive_rate: false, current_rate_per_second: null, rate_per_second: 40 });
  const { data: on } = await hw.api('PUT', `/webhooks/${webhook.id}`, { adaptive_rate: true, rate_per_second: null });
  expect(on).toMatchObject({ adaptive_rate: true, current_rate_per_second: 1_000, rate_per_second: null });
});
