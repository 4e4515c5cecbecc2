// ingress: Bodies far over the bound, sent on and on after the refusal, announced, chunked and with Expect.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BYTES = 24 * 1024 * 1024;

it('are read away up to a bound and then cut off', async () => {
  const { attacker, server } = world;
  const head = (path: string, framing: string) =>
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`,
    );
  const flood = Buffer.alloc(BYTES, 'x');
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const path of ['/e/x', '/v1/sources']) {
        for (const framing of [`content-length: ${BYTES}`, `transfer-encoding: chunked\r\n\r\n${BYTES.toString(16)}`]) {
          const { statuses, closed } = await exchange(server, Buffer.concat([head(path, framing), flood]));
          const wrong = statuses.filter((status) => status !== 413 && status !== 404 && status !== 400);
          expect([path, framing.slice(0, 20), wrong, closed]).toEqual([path, framing.slice(0, 20), [], true]);
        }
        const asked = await exchange(server, head(path, `expect: 100-continue\r\ncontent-length: ${BYTES}`));
        expect([path, asked.statuses, asked.closed]).toEqual([path, [413], true]);
      }
    }),
  );
});
