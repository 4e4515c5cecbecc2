// egress: A receiver that redirects the signed delivery to an address inside, and to another receiver.
import { expect, it } from 'vitest';
import { deliverOnce, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const other = rawServer((socket) => socket.end(response('content-length: 0\r\n')));
const receiver = rawServer((socket, request) => {
  const to = request.startsWith('POST /inside') ? 'http://169.254.169.254/' : other.url;
  socket.end(response(`location: ${to}\r\ncontent-length: 4\r\n`, 'gone', '307 Temporary Redirect'));
});

it('is a failed attempt, and nothing is sent on', async () => {
  for (const path of ['inside', 'outside']) {
    const attempt = await world.unharmed(() => deliverOnce(world, `${receiver.url}/${path}`));
    expect(attempt).toMatchObject({ status_code: 307 });
  }
  expect(other.connections()).toBe(0);
});
