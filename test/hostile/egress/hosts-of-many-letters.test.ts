// egress: URLs with hosts of thousands of Chinese letters, in sends, redirects and webhooks: 20 ms of the thread each to read.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const SENDS = 20;

function letters(count: number): string {
  return Array.from({ length: count }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000))).join('');
}

const redirecting = rawServer((socket, request) => {
  const isPath = request.startsWith('GET /path');
  const location = isPath ? `/${'a'.repeat(5_000)}` : `//${encodeURIComponent(letters(1_500))}/`;
  socket.end(response(`location: ${request.startsWith('GET /aaa') ? '/end' : location}\r\n`, '', '302 Found'));
});

it('are refused before they are read', async () => {
  const { attacker } = world;
  // The guest reads them as well, at the cost of its own CPU time.
  const host = letters(1_000);
  const urls = [`http://${host}/`, `http://${host}?`, `http://a\t@${host}:80?x`];
  const calls = Array.from({ length: SENDS }, (_, n): ['http', object] => ['http', { url: urls[n % urls.length] }]);
  for (const { status, attempts } of await world.unharmed(() => sendEach(world, calls)))
    expect([status, attempts[0]?.error]).toEqual(['failed', expect.stringContaining('longer than 512 characters')]);
  const url = `https://${letters(2_000)}/`;
  const made = await world.unharmed(() => attacker.api('POST', '/webhooks', { url }));
  expect([made.status, made.text]).toEqual([400, expect.stringContaining('a host of more than 512 characters')]);
  const followed = await world.unharmed(() =>
    fetchEach(world, [`${redirecting.url}/host`, [`${redirecting.url}/path`, { redirect: 'manual' }]]),
  );
  expect(followed.messages).toEqual([expect.stringContaining('the limit maxUrlHostChars is 512')]);
  expect(followed.reached).toMatchObject([{ status: 302 }]);
});
