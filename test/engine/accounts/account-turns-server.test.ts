import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type AccountTurns, createHttpMetrics } from '../../../api/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { API_KEY, startTestServer } from '../../support/http-server.ts';

test.each([
  ['an endpoint', '/e/known1'],
  ['the API', '/v1/sources'],
])('a client that leaves while its body waits for its turn is done with, at %s', async (_, path) => {
  let waiting = 0;
  let over = 0;
  const turn = Promise.withResolvers<void>();
  const turns: AccountTurns = {
    take() {
      waiting++;
      return turn.promise;
    },
    hasOthers: () => false,
    mustGiveWay: () => false,
    count: () => undefined,
  };
  const done = () => void over++;
  const metrics = { ...createHttpMetrics(), requestDone: done, ingestDone: done };
  const server = await startTestServer({ turns, metrics });
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\ncontent-length: 100000\r\n\r\n{`,
  );
  await eventually(() => waiting === 1);
  socket.destroy();
  await sleep(50);
  turn.resolve();
  await eventually(() => over === 1);
  expect(server.accepted).toEqual([]);
  await server.server.stop();
});
