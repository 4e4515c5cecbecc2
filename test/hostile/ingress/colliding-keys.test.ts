// ingress: JSON objects of a hundred thousand keys chosen to be slow: array indexes, one prefix, equal lengths, repeats.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
const COUNT = 30_000;
const KEYS: ((n: number) => string)[] = [
  (n) => String(4_294_967_294 - n * 7),
  (n) => 'k'.repeat(4) + String(n).padStart(8, '0'),
  () => 'same',
  (n) => String.fromCodePoint(0x4e00 + (n % 20_000)) + String(n % 7),
];

it('cost what their bytes cost', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${attacker.key}` };
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const key of KEYS) {
        const object = `{${Array.from({ length: COUNT }, (_, n) => `"${key(n)}":0`).join()}}`;
        expect((await fetch(endpoint, { method: 'POST', headers, body: object })).status).toBe(200);
        const api = await fetch(`${server.url}/v1/sources`, {
          method: 'POST',
          headers,
          body: `{"configured_props":${object}}`,
        });
        expect(api.status).toBe(400);
      }
      await world.untilIdle();
    }),
  );
});
