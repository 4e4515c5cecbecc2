// fairness: Hundreds of bodies of JSON at once to an endpoint, each of which takes the thread a while to be read as what it is.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run() {} };`;
const REQUESTS = 120;
const BODY = `[${'[],'.repeat(23_000)}0]`;

it('are read two at a time, and all are accepted or told to come later', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  const headers = { 'content-type': 'application/json' };
  const send = async () => (await fetch(endpoint, { method: 'POST', body: BODY, headers })).status;
  await world.unharmed(async () => {
    const all = Promise.all(Array.from({ length: REQUESTS }, send));
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    for (const status of await all) expect([200, 429]).toContain(status);
    await world.untilIdle(60_000);
  });
});
