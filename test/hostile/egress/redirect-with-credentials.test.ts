// egress: A redirect that takes credentials of one origin along to another: other port, other host, plain HTTP.
import { expect, it } from 'vitest';
import { followRedirect } from '../../../engine/src/egress/follow-redirect.ts';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const thief = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
const server = rawServer((socket) =>
  socket.end(response(`location: ${thief.url}/\r\ncontent-length: 0\r\n`, '', '307 Temporary Redirect')),
);
const headers = { authorization: 'Bearer s3cret', cookie: 's3cret=1', 'proxy-authorization': 's3cret', 'x-kept': '1' };

it('leaves them behind at another port', async () => {
  const ran = await world.unharmed(() => fetchEach(world, [[server.url, { method: 'POST', body: 'b', headers }]]));
  expect(ran.reached).toMatchObject([{ status: 200 }]);
  expect(server.received[0]).toMatch(/s3cret/);
  expect(thief.received[0]).toMatch(/^POST[^]*x-kept: 1/i);
  expect(thief.received[0]).not.toMatch(/s3cret/);
});

it.each(['http://bank.test/', 'https://bank.test:8443/', 'https://www.bank.test/'])(
  'leaves them behind at %s',
  (to) => {
    const from = {
      url: new URL('https://bank.test/'),
      method: 'GET',
      headers: Object.entries(headers),
      body: undefined,
    };
    const redirect = followRedirect(from, 302, to);
    expect(redirect).toMatchObject({ kind: 'follow', request: { headers: [['x-kept', '1']] } });
  },
);
