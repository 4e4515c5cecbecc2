import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { API_KEY, deploy, post, startServer } from '../../support/server.ts';

const CODE = `export default { name: 'Hello', version: '1', props: { http: '$.interface.http' },
  run({ body }) { this.$emit(body); } };`;

test('a stream has the events of each node, ends when its node stops, and goes on at another', async () => {
  const database = await createTestDatabase();
  const [one, two] = [
    await startServer({ databaseUrl: database.url }),
    await startServer({ databaseUrl: database.url }),
  ];
  const source = await deploy(one, CODE);
  const at = (server: typeof one, lastId?: string) =>
    openEventSource(`${server.url}/v1/sources/${source.id}/sse`, API_KEY, lastId);
  const path = new URL(source.endpoint).pathname;
  const first = await at(two);
  for (let n = 0; n < 5; n++) await post(`${[one.url, two.url][n % 2]}${path}`, { n });
  await eventually(() => first.messages.length === 5);
  const beganAtMs = Date.now();
  const stopped = two.stop();
  await first.ended;
  // Before open requests are cut off.
  expect(Date.now() - beganAtMs).toBeLessThan(LIMITS.shutdownMs * 0.8);
  await stopped;
  await post(`${one.url}${path}`, { n: 5 });
  const next = await at(one, first.messages.at(-1)?.id);
  await eventually(() => next.messages.length === 1);
  const seen = [...first.messages, ...next.messages].map(({ data }) => data.event.n as number);
  expect(seen.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
  next.close();
  await one.stop();
  await database.drop();
});
