// egress: Names whose server never answers, more of them than the process has threads to ask with.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { nameWith, questionsFor } from '../../support/hostile-dns.ts';
import { NOT_PUBLIC, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const NAMES = 40;
const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

const ASK = `const outcomes = await Promise.allSettled(event.names.map((name) => fetch('http://' + name + '/')));
this.$emit({ answered: outcomes.filter(({ status }) => status === 'fulfilled').length });
throw outcomes[0].reason;`;
const FETCH = `export default { name: 'Fetch', version: '1', props: { http: { type: '$.interface.http', customResponse: true } },
  async run(event) {
    const { status } = await fetch(event.query.url);
    this.http.respond({ status });
  } };`;

it('hold up nobody else’s names', async () => {
  await world.limit({ fetchTimeoutMs: 2_000, maxFetchesInFlightPerRun: NAMES });
  const { endpoint } = await world.neighbour.deploy(FETCH);
  const { ran, served } = await world.unharmed(async () => {
    const names = await Promise.all(Array.from({ length: NAMES }, () => nameWith('silent')));
    const asking = world.attack(ASK, { event: { names } });
    await eventually(async () => (await questionsFor(names.at(-1) ?? '')).A > 0);
    const name = await nameWith({ addresses: ['127.0.0.1'] });
    const answer = await fetch(`${endpoint}?url=${encodeURIComponent(`http://${name}:${server.port}/`)}`);
    return { ran: await asking, served: answer.status };
  });
  expect(served).toBe(200);
  expect(ran.events).toEqual([{ answered: 0 }]);
  // How long the resolver asks depends on how fast names were answered before.
  const { code, limit, message = '' } = ran.error ?? {};
  const isTimeout = code === 'RESOURCE_LIMIT' && limit?.name === 'fetchTimeoutMs' && limit.value === 2_000;
  const isUnknown = code === 'COMPONENT_ERROR' && NOT_PUBLIC.test(message);
  expect([ran.error, isTimeout || isUnknown]).toEqual([ran.error, true]);
});
