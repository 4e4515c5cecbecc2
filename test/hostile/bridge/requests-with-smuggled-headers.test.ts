// process: A process that has been taken over and asks for a request whose header has a line break in it.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the request is not made, and the process is ended', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  send(FETCH, 1, '1', JSON.stringify({ url: 'http://a.example/', method: 'GET', redirect: 'follow', headers: [['a', 'b\\r\\nhost: c']] }));
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(ran.host.requests).toEqual([]);
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
