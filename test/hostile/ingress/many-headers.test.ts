// ingress: Ten thousand short headers, and the same one over and over.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

it('is a 431 above the bound on their bytes, and below it all of them arrive', async () => {
  const { attacker, server } = world;
  const path = new URL((await attacker.deploy(BIN)).endpoint).pathname;
  const request = (lines: string[]) => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.join('')}\r\n`;
  const many = Array.from({ length: 10_000 }, (_, n) => `h${n}: 1\r\n`);
  await world.unharmed(() =>
    withinMemory(server, async () => {
      expect(await exchange(server, request(many))).toMatchObject({ statuses: [431], closed: true });
      expect(await exchange(server, request(many.map(() => 'a: 1\r\n')))).toMatchObject({ statuses: [431] });
      expect(await exchange(server, request(many.slice(0, 400)))).toMatchObject({ statuses: [200] });
    }),
  );
});
