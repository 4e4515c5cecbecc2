// process: A process that has been taken over and gives all its requests one number, so that they count as a single open one.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';

const world = hostile();

it('is ended at the second, and the first is aborted', async () => {
  await world.unharmed(async () => {
    const host = recordingHost({ fetch: () => new Promise(() => undefined) });
    const ran = await runInForgedProcess(
      `function attack() {
  const head = JSON.stringify({ url: 'http://127.0.0.1:1/', method: 'GET', redirect: 'error', headers: [] });
  for (let i = 0; i < 200; i++) send(FETCH, 1, '1', head);
}`,
      {},
      host,
    );
    expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(host.requests.length).toBeLessThanOrEqual(2);
    expect(host.aborted.length).toBe(host.requests.length);
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});
