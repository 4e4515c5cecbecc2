// egress: URLs with hosts of thousands of Chinese letters, in sends, redirects and webhooks: 20 ms of the thread each to read.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import type { ShownSend } from '../../support/hostile-sends.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const SENDS = 20;

function letters(count: number): string {
  return Array.from({ length: count }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000))).join('');
}

const SEND = `${letters.toString()}
const host = letters(5_000);
const urls = ['http://' + host + '/', 'http://' + host + '?', 'http://a\\t@' + host + ':80?x'];
for (let n = 0; n < ${SENDS}; n++) $.send.http({ url: urls[n % urls.length] });`;

const redirecting = rawServer((socket, request) => {
  const isPath = request.startsWith('GET /path');
  const location = isPath ? `/${'a'.repeat(5_000)}` : `//${encodeURIComponent(letters(1_500))}/`;
  socket.end(response(`location: ${request.startsWith('GET /aaa') ? '/end' : location}\r\n`, '', '302 Found'));
});

async function sendsOf(executionId: string): Promise<ShownSend[]> {
  return eventually(
    async () => {
      const { body } = await world.attacker.api('GET', `/executions/${executionId}/sends?limit=100`);
      const sends = (body?.data ?? []) as ShownSend[];

      return sends.length === SENDS && sends.every(({ attempts }) => attempts.length > 0) && sends;
    },
    { timeoutMs: 20_000, everyMs: 250, what: 'the attempts of what was sent' },
  );
}

it('are refused before they are read', async () => {
  const { attacker } = world;
  const { id } = await makeWorkflow(attacker, { steps: [SEND] });
  await world.unharmed(async () => {
    const ran = await attacker.api('POST', `/workflows/${id}/run`, {});
    for (const { status, attempts } of await sendsOf(ran.body.data.execution_id as string)) {
      expect([status, attempts[0]?.error]).toEqual(['failed', expect.stringContaining('longer than 512 characters')]);
    }
  });
  const url = `https://${letters(2_000)}/`;
  const made = await world.unharmed(() => attacker.api('POST', '/webhooks', { url }));
  expect([made.status, made.text]).toEqual([400, expect.stringContaining('a host of more than 512 characters')]);
  const followed = await world.unharmed(() =>
    fetchEach(world, [`${redirecting.url}/host`, [`${redirecting.url}/path`, { redirect: 'manual' }]]),
  );
  expect(followed.messages).toEqual([expect.stringContaining('the limit maxUrlHostChars is 512')]);
  expect(followed.reached).toMatchObject([{ status: 302 }]);
});
