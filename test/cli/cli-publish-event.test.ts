import { expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';

const world = cliWorld();

const publish = (...words: string[]) => world.user.hw(['events', 'publish', ...words]);
const eventsOf = async (id: string) => (await world.hw.api('GET', `/sources/${id}/events`, { expand: 'event' })).data;

test('an event, and a batch, go to a source without code, each id once', async () => {
  const made = await world.user.hw(['deploy', '--ingest', 'orders', '--quiet']);
  const id = made.stdout.trim();
  const one = ['orders', '--channel', 'order.paid', '--id', 'o-1', '--data', '{"order":1}'];
  expect(await publish(...one)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 stored') });
  expect(await publish(...one)).toMatchObject({ code: 0, stdout: expect.stringContaining('0 stored, 1 known before') });
  await world.write('events.json', JSON.stringify([{ data: 2 }, { id: 'o-3', data: 3, summary: 'third' }]));
  expect(await publish('orders', '--batch', 'events.json')).toMatchObject({ code: 0 });
  const stored = await eventsOf(id);
  expect(stored.map((event: { event: unknown }) => event.event)).toEqual([3, 2, { order: 1 }]);
  expect(stored[2].metadata).toMatchObject({ id: 'o-1', name: 'order.paid' });
});

test('without a source it goes to that of the account', async () => {
  const { code, stdout } = await publish('--data', '[1]', '--json');
  expect(code).toBe(0);
  const { source_id: id } = JSON.parse(stdout) as { source_id: string };
  expect((await world.hw.api('GET', `/sources/${id}`)).data.name).toBe('Events');
});

test('an id of 64 bits keeps its digits there and back', async () => {
  await world.user.hw(['deploy', '--ingest', 'ids']);
  const data = '{"id":1234567890123456789}';
  expect(await publish('ids', '--data', data)).toMatchObject({ code: 0 });
  for (const options of [[], ['--json']]) {
    const { stdout } = await world.user.hw(['events', 'ids', ...options]);
    expect(stdout.replaceAll(/\s/g, '')).toContain(data);
  }
});

test('a malformed event is refused before it is sent', async () => {
  expect((await publish()).code).toBe(2);
  expect((await publish('--data', '{')).stderr).toContain('--data is not JSON');
  expect((await world.user.hw(['deploy', '--ingest', 'a', '--name', 'b'])).code).toBe(2);
});
