import { beforeEach, expect, test } from 'vitest';
import type { EndpointRoute } from '../../engine/src/contract/engine.ts';
import { createEndpointRoutes, type EndpointRoutes } from '../../engine/src/ingest/endpoint-routes.ts';

let clock: { nowMs: number };
let stored: Map<string, EndpointRoute>;
let queries: { keys: readonly string[]; end: () => void }[];
let holdQueries: boolean;
let routes: EndpointRoutes;

beforeEach(() => {
  clock = { nowMs: 0 };
  stored = new Map();
  queries = [];
  holdQueries = false;
  routes = createEndpointRoutes({
    nowMs: () => clock.nowMs,
    read: async (keys) => {
      const found = new Map([...stored].filter(([key]) => keys.includes(key)));
      await new Promise<void>((end) => {
        queries.push({ keys, end });
        if (!holdQueries) end();
      });
      return found;
    },
  });
});

const routeTo = (sourceId: string): EndpointRoute => ({
  accountId: 'o_1',
  sourceId,
  propName: 'http',
  customResponse: false,
  preflight: 'allow',
  durability: 'stored',
});

test('a key that leads nowhere is not looked up again for a while', async () => {
  for (let i = 0; i < 100; i++) expect(await routes.get('nothing')).toBeUndefined();
  expect(queries).toHaveLength(1);
  clock.nowMs += 60_000;
  await routes.get('nothing');
  expect(queries).toHaveLength(2);
});

test('a source that is started answers at once, although its key had just led nowhere', async () => {
  expect(await routes.get('key')).toBeUndefined();
  stored.set('key', routeTo('dc_1'));
  routes.forgetSource('dc_1');
  expect(await routes.get('key')).toEqual(routeTo('dc_1'));
});

test('an answer that a change has overtaken is not kept', async () => {
  holdQueries = true;
  const early = routes.get('key');
  await expect.poll(() => queries.length).toBe(1);
  stored.set('key', routeTo('dc_1'));
  routes.forgetSource('dc_1');
  queries[0]?.end();
  expect(await early).toBeUndefined();
  holdQueries = false;
  expect(await routes.get('key')).toEqual(routeTo('dc_1'));
});

test('a flood of made-up keys takes one query at a time', async () => {
  holdQueries = true;
  const answers = Array.from({ length: 1_000 }, async (_, i) => routes.get(`made-up-${i}`));
  for (let count = 1; count <= 4; count++) {
    await expect.poll(() => queries.length).toBe(count);
    queries.at(-1)?.end();
  }
  expect((await Promise.all(answers)).every((route) => route === undefined)).toBe(true);
  expect(queries.map(({ keys }) => keys.length)).toEqual([256, 256, 256, 232]);
});
