import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createActiveTenants, LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { readRequestBody } from '../../api/src/read-request-body.ts';
import { createUnfinishedBodies } from '../../api/src/unfinished-bodies.ts';

const SECOND = LIMITS.readBytesPerSecond;
const REST_MS = 20;

test('large bodies of an account are to be read at a pace while others send', () => {
  const activeTenants = createActiveTenants();
  const bodies = createUnfinishedBodies(activeTenants);
  const body = bodies.begin('o_a', undefined, () => undefined);
  expect(body?.add(SECOND)).toBe(0);
  activeTenants.saw('o_neighbour', performance.now());
  const restMs = body?.add(SECOND) ?? 0;
  expect(restMs).toBeGreaterThan(900);
  expect(restMs).toBeLessThanOrEqual(1_000);
  expect(bodies.begin('o_neighbour', undefined, () => undefined)?.add(1)).toBe(0);
  expect(bodies.begin('o_a', LIMITS.smallBodyBytes, () => undefined)).toBeUndefined();
});

test('a body that is read with rests comes whole', async () => {
  const heard: { bytes: number; parts: number; ms: number }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const beganMs = performance.now();
    let parts = 0;
    const body = await readRequestBody(request, 10_000_000, () => {
      parts++;
      return REST_MS;
    });
    const bytes = body.kind === 'complete' ? body.bytes.length : -1;
    heard.push({ bytes, parts, ms: performance.now() - beganMs });
    response.end();
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetch(url, { method: 'POST', body: 'x'.repeat(2_000_000) });
  server.close();
  const [{ bytes, parts, ms } = { bytes: 0, parts: 0, ms: 0 }] = heard;
  expect(bytes).toBe(2_000_000);
  // Timers may be a millisecond early.
  expect(ms).toBeGreaterThan(parts * (REST_MS - 2));
});
