import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { RunResponse } from '../../../engine/src/contract/engine.ts';
import { createWaitingClients } from '../../../engine/src/runs/waiting-clients.ts';

const ANSWER: RunResponse = { ok: true, response: { status: 200, headers: {}, body: new Uint8Array() } };

it('a client whose execution has its turn waits for the answer, however long', async () => {
  const left: string[] = [];
  const clients = createWaitingClients({ maxWaitMs: 20, onLeft: (id) => left.push(id) });
  const answer = clients.expect('exec_1', 'o_1');
  expect(clients.count('o_1')).toBe(1);
  const respond = clients.take('exec_1');
  expect([clients.count('o_1'), clients.take('exec_1')]).toEqual([0, undefined]);
  await sleep(40);
  respond?.(ANSWER);
  expect(await answer).toEqual(ANSWER);
  expect(left).toEqual([]);
});

it('a client whose turn does not come is told so, and its execution is free for any node', async () => {
  const left: string[] = [];
  const clients = createWaitingClients({ maxWaitMs: 20, onLeft: (id) => left.push(id) });
  const answers = [clients.expect('exec_1', 'o_1'), clients.expect('exec_2', 'o_1')];
  const told = { ok: false, request: 'kept', message: expect.stringContaining('it is kept and runs in its turn') };
  expect(await Promise.all(answers)).toEqual([told, told]);
  expect(left).toEqual(['exec_1', 'exec_2']);
  expect([clients.take('exec_1'), clients.count('o_1')]).toEqual([undefined, 0]);
});

it('a node that stops tells all clients, and clients that arrive later', async () => {
  const clients = createWaitingClients({ maxWaitMs: 60_000, onLeft: () => undefined });
  const answers = [clients.expect('exec_1', 'o_1'), clients.expect('exec_2', 'o_2')];
  clients.stop();
  answers.push(clients.expect('exec_3', 'o_1'));
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ ok: false, request: 'kept' });
  expect([clients.count('o_1'), clients.count('o_2')]).toEqual([0, 0]);
});
