// ingress: Bytes that are no UTF-8, lone surrogates and NULs in bodies, which databases and JSON do not take.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
const BODIES = [
  Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
  Buffer.from('{"a":"\\ud800\\u0000"}'),
  Buffer.alloc(10_000, 0x80),
  Buffer.from('\0'.repeat(1_000)),
];

it('each is an event like any other, or a 400 of the API', async () => {
  const { attacker, server } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  await world.unharmed(async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      for (const body of BODIES) {
        const headers = { 'content-type': type, authorization: `Bearer ${attacker.key}` };
        const sent = await fetch(endpoint, { method: 'POST', headers, body });
        const api = await fetch(`${server.url}/v1/webhooks`, { method: 'POST', headers, body });
        expect([type, sent.status, api.status]).toEqual([type, 200, 400]);
      }
    }
    await world.untilIdle();
  });
  const stored = () => attacker.api('GET', `/sources/${id}/event_summaries?limit=100`);
  await eventually(async () => (await stored()).body.data.length >= 12);
});
