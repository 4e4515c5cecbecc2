import { expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';

const world = cliWorld();

let source: string;

/** So many of a channel, from `ms` on. */
async function addEvents(channel: string, count: number, ms: number): Promise<void> {
  const { accountId, sql } = world.hw;
  await sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${source}, ${ms}::int8 + n, 0, ${accountId}, ${channel}, n::text from generate_series(1, ${count}::int4) n`;
}

async function shown(...words: string[]): Promise<string[]> {
  const { code, stderr, stdout } = await world.user.hw(['events', source, '--json', ...words]);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

test('events are found behind more of other channels than the server looks through for a page', async () => {
  source = (await world.hw.deploy(ORDERS_SOURCE)).id;
  const now = Date.now() - 1_000_000;
  const [old, noise, young] = [now, now + 100_000, now + 900_000];
  await addEvents('', 3, old);
  // The second page of three is empty.
  await addEvents('$logs', 2 * LIMITS.maxScannedEvents + 10, noise);
  await addEvents('', 2, young);
  const all = [old + 1, old + 2, old + 3, young + 1, young + 2].map((ms) => `${ms}-0`);
  expect(await shown()).toEqual(all);
  expect(await shown('--channel', '')).toEqual(all);
  expect(await shown('-n', '4')).toEqual(all.slice(1));
  expect(await shown('-n', '2')).toEqual(all.slice(3));
  expect(await shown('--all')).toEqual(all.toReversed());
  const { stdout } = await world.user.hw(['search', '--emitter', source, '--all', '--json']);
  expect(stdout.split('\n')).toHaveLength(all.length + 1);
});
