// fairness: Runs with as many requests open as one account may have, all of which are answered in the same moment, again and again.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const PER_RUN = ACCOUNT_LIMITS.maxFetchesInFlightPerRun.default;
const TOGETHER = ACCOUNT_LIMITS.maxConnections.default;
const RUNS = TOGETHER / PER_RUN;
const ROUNDS = 6;

let held: ServerResponse[] = [];
const answerer = createServer((request, response) => {
  request.resume();
  held.push(response);
  if (held.length < TOGETHER) return;
  for (const one of held) one.end('x');
  held = [];
});

beforeAll(() => new Promise<void>((resolve) => answerer.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  answerer.closeAllConnections();
  answerer.close();
});

it('keeps nobody else waiting', async () => {
  const { attacker } = world;
  await world.limit({ maxFetchesPerSecond: 10_000 });
  const url = `http://127.0.0.1:${(answerer.address() as AddressInfo).port}/`;
  const code = `export default { name: 'Together', version: '1', async run() {
    const one = async () => (await fetch('${url}')).text();
    for (let round = 0; round < ${ROUNDS}; round++) await Promise.all(Array.from({ length: ${PER_RUN} }, one));
    this.$emit('done');
  } };`;
  const sources = await Promise.all(Array.from({ length: RUNS }, () => attacker.deploy(code)));
  await world.unharmed(async () => {
    const ran = await Promise.all(sources.map(({ id }) => world.run(id)));
    expect(ran.map(({ error, events }) => error ?? events.at(-1))).toEqual(ran.map(() => 'done'));
  });
});
