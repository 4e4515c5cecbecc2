// egress: The operator’s proxy as a target of its own: whoever talks to it has a way out without a guard.
import { expect, it } from 'vitest';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { accountLimits } from '../../../shared/src/index.ts';
import { startTunnelProxy } from '../../support/tunnel-proxy.ts';
import { startReceiver } from '../../support/receiver.ts';

it('is reached by nobody, and the neighbour’s requests go through it', async () => {
  const [proxy, receiver] = [await startTunnelProxy(), await startReceiver()];
  const egress = createEgress({
    allow: ['0.0.0.0/0', '::/0'],
    deniedPorts: () => [],
    proxy: `http://gate:secret@127.0.0.1:${proxy.port}`,
    resolver: (name, done) => done(null, [{ address: name === 'proxy.test' ? '127.0.0.1' : '93.184.1.1', family: 4 }]),
  });
  const guest = createGuestFetch({ egress });
  const send = (id: string, url: string) =>
    guest.fetch(
      { id, limits: accountLimits() },
      { url, method: 'GET', headers: [], redirect: 'follow' },
      new AbortController().signal,
    );
  for (const host of ['127.0.0.1', '127.1', '[::ffff:127.0.0.1]', '0.0.0.0', '[::1]', 'proxy.test']) {
    const outcome = await send('attacker', `http://${host}:${proxy.port}/`);
    expect({ host, ...outcome }).toMatchObject({ ok: false, message: expect.stringMatching(/not reached from here/) });
    expect(JSON.stringify(outcome)).not.toMatch(/secret|gate/);
  }
  const served = await send('neighbour', `http://neighbour.test:${new URL(receiver.url).port}/`);
  expect(served).toMatchObject({ ok: true, status: 200 });
  expect(proxy.asked).toHaveLength(1);
  await guest.stop();
  await Promise.all([proxy.stop(), receiver.stop()]);
});
