// egress: A receiver whose answer has no end, and one whose headers have none.
import { expect, it } from 'vitest';
import { deliverOnce, flood, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CHUNK = Buffer.alloc(64 * 1024, 'a');
const receiver = rawServer((socket, request) => {
  const isBody = request.startsWith('POST /body');
  socket.write(isBody ? 'HTTP/1.1 200 OK\r\n\r\n' : 'HTTP/1.1 200 OK\r\nx-long: ');
  flood(socket, CHUNK);
});

it('is read no further than is kept', async () => {
  const body = await world.unharmed(() => deliverOnce(world, `${receiver.url}/body`));
  expect(body).toMatchObject({ status_code: 200 });
  expect(body.response?.length).toBeLessThanOrEqual(1_024);
  const headers = await world.unharmed(() => deliverOnce(world, `${receiver.url}/headers`));
  expect(headers).toMatchObject({ error: expect.stringMatching(/headers that are too large/) });
  await expect.poll(receiver.open).toBe(0);
});
