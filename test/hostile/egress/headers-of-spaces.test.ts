// egress: Headers with hundreds of thousands of spaces between two letters, in requests and `$.send.http`: a trim that looks back at each.
import { expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
const REQUESTS = 10;

/** As large as the headers of a request may be, and as large as it may leave the isolate. */
const [ALLOWED, LARGE] = [60_000, 240_000];

/** By the module http, which does not look at them itself. */
const ASK = `import http from 'node:http';
const ask = (url, spaces) => new Promise((resolve, reject) => {
  const headers = { a: 'x' + ' '.repeat(spaces) + 'y' };
  http.request(url, { headers }, ({ statusCode }) => resolve(statusCode)).on('error', reject).end();
});
export default { name: 'Attack', version: '1', async run() {
  let last;
  for (let n = 0; n < ${REQUESTS}; n++) {
    this.$emit(await ask('URL', ${ALLOWED}));
    await ask('URL', ${LARGE}).catch((error) => (last = error));
  }
  throw last;
} };`;

it('are measured before they are looked at', async () => {
  const headers = { a: `x${' '.repeat(LARGE)}y` };
  const [ran, sends] = await world.unharmed(() =>
    Promise.all([
      world.attack(ASK.replaceAll('URL', server.url)),
      sendEach(world, [['http', { url: server.url, headers }]]),
    ]),
  );
  const limit = { name: 'maxFetchHeaderBytes', value: 65_536, used: expect.any(Number) };
  expect(ran.events).toEqual(Array(REQUESTS).fill(200));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit });
  expect(sends).toMatchObject([{ status: 'failed', attempts: [{ limit }] }]);
});
