// process: A process that has been taken over and floods its node with messages that no limit of a run stands against.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';

const world = hostile();

/** More than a process may say to no effect. */
const MANY = 22_000;
const REQUEST = `JSON.stringify({ url: 'http://127.0.0.1:1/', method: 'GET', redirect: 'error', headers: [] })`;

const FLOODS = {
  'answers to a heartbeat that nobody asked for': `frame(PONG, 0)`,
  'events of a run that it was never given': `frame(EMIT, 4294967295, '1', META)`,
  'aborts of requests that it never made': `frame(FETCH_ABORT, 1, '1')`,
  'aborts of one request': `i === 0 ? frame(FETCH, 1, '1', ${REQUEST}) : frame(FETCH_ABORT, 1, '1')`,
  'empty answers': `frame(RESPOND, 1, JSON.stringify({ status: 200, headers: [] }), '')`,
  'requests beyond their number, refused each': `frame(FETCH, 1, String(i), ${REQUEST})`,
  'calls on stores that are none of its own': `frame(DATA_STORE, 1, String(i), JSON.stringify({ storeId: 'ds_x', op: 'keys' }))`,
};

it('is ended, by whatever it floods with', async () => {
  await world.unharmed(async () => {
    for (const [what, flood] of Object.entries(FLOODS)) {
      const host = recordingHost();
      const ran = await runInForgedProcess(
        `function attack() {
  channel.write(Buffer.concat(Array.from({ length: ${MANY} }, (_, i) => ${flood})));
  channel.write(frame(OUTCOME, 1, '[1,1]'));
}`,
        {},
        host,
      );
      expect([what, ran.problems.length]).toEqual([what, 1]);
      expect(ran.problems[0]).toContain('broke the protocol');
      expect(host.responses.length).toBeLessThanOrEqual(1);
      expect(host.requests.length).toBeLessThanOrEqual(1_000);
      expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
    }
  });
});
