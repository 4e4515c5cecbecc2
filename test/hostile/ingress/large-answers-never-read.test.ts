// ingress: Fifty clients of an endpoint that answers five megabytes, of which none reads more than its beginning.
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { open } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
const CLIENTS = longRun(34, 50);
const BYTES = 5_000_000;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const LARGE = `export default { name: 'Large', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run() { await this.http.respond({ status: 200, body: 'x'.repeat(${BYTES}) }); } };`;

async function closed(sockets: readonly Socket[]): Promise<Socket[]> {
  // A socket that is not read hears nothing of its end.
  for (const socket of sockets) socket.resume();
  await eventually(() => Promise.resolve(sockets.every((socket) => socket.closed || socket.bytesRead > BYTES)), {
    timeoutMs: 20_000,
    what: 'answers to be read or cut off',
  });
  return sockets.filter((socket) => socket.bytesRead < BYTES);
}

it('are kept for a dozen of them, and the others are cut off', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(LARGE);
  const { pathname } = new URL(endpoint);
  await world.unharmed(async () => {
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => open(server)));
    for (const socket of sockets) {
      socket.once('data', () => socket.pause());
      socket.write(`GET ${pathname} HTTP/1.1\r\nhost: x\r\n\r\n`);
    }
    const begun = () => sockets.every((socket) => socket.bytesRead > 0);
    await eventually(() => Promise.resolve(begun()), { timeoutMs: 60_000, what: 'the beginning of each answer' });
    const cutOff = await closed(sockets);
    // Some answers fit into the system's socket buffers and use no memory of the node.
    expect(cutOff.length).toBeGreaterThanOrEqual(CLIENTS - 2 * Math.ceil(MAX_UNREAD_BYTES / BYTES));
    expect(cutOff.length).toBeLessThan(CLIENTS);
    for (const socket of sockets) socket.destroy();
    expect((await (await fetch(endpoint)).text()).length).toBe(BYTES);
  });
});
