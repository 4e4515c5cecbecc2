import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const MB = 1024 * 1024;
const BIG = `export default { name: 'Big', version: '1', props: { http: '$.interface.http' },
  run() { for (let i = 0; i < 5; i++) this.$emit({ i, big: 'x'.repeat(${MB - 1024}) }); } };`;

interface Summary {
  event: string | { i: number };
  event_truncated: boolean;
}

test('expanded events are whole up to a bound of all together, the newest first; older ones are cut and marked', async () => {
  const source = await hw.deploy(BIG);
  for (let i = 0; i < 4; i++) await fetch(source.endpoint, { method: 'POST' });
  await hw.untilIdle();
  const { text } = await hw.api('GET', `/sources/${source.id}/event_summaries`, { limit: 100, expand: 'event' });
  const { data } = JSON.parse(text) as { data: Summary[] };
  expect(data).toHaveLength(20);
  expect(text.length).toBeLessThan(LIMITS.maxSummariesBytes + 100_000);
  const whole = data.filter(({ event_truncated: isCut }) => !isCut);
  expect(whole).toHaveLength(16);
  expect(data.slice(0, 16)).toEqual(whole);
  for (const { event } of data.slice(16)) {
    expect(event).toMatch(/^\{"i":\d,"big":"x+$/);
    expect(event).toHaveLength(LIMITS.summaryEventBytes);
  }
});

test('without expand, long data is cut to bytes, never within a character, and short data is whole', async () => {
  const code = `export default { name: 'Mixed', version: '1', props: { http: '$.interface.http' },
    run() { this.$emit('\u20ac'.repeat(2000), { ts: 1 }); this.$emit({ short: 'x'.repeat(1000) }, { ts: 2 }); } };`;
  const source = await hw.deploy(code);
  await fetch(source.endpoint, { method: 'POST' });
  await hw.untilEvents(source.id, 2);
  const { data } = await hw.api('GET', `/sources/${source.id}/event_summaries`);
  const [short, long] = data as Summary[];
  expect(short).toMatchObject({ event: { short: 'x'.repeat(1000) }, event_truncated: false });
  expect(long).toMatchObject({ event: `"${'\u20ac'.repeat(341)}`, event_truncated: true });
});
