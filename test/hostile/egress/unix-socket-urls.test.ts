// egress: URLs and options by which some clients reach sockets in the file system.
import { expect, it } from 'vitest';
import { fetchEach } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const SOCKET = '/var/run/docker.sock';

it('open no socket of the file system', async () => {
  const urls = [`unix:${SOCKET}`, `http+unix://${encodeURIComponent(SOCKET)}/info`, `http://unix:${SOCKET}:/info`];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  expect(ran.reached).toEqual([]);
});

it('as options of node:http do not either', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
import http from 'node:http';
export default { name: 'Attack', version: '1', async run() {
  await new Promise((resolve, reject) => {
    http.get({ socketPath: '${SOCKET}', path: '/info' }, resolve).on('error', reject);
  });
} };`),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
});
