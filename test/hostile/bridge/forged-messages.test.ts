import { describe, expect, it } from 'vitest';
import type { RunEntry } from '../../../sandbox-runtime/src/sandbox-types.ts';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { recordingHost } from '../../support/run-host.ts';
import { recordingStep, stepInput } from '../../support/step-kit.ts';

// process: A process that has been taken over and puts out characters of three bytes, as many as a
// limit has bytes.
describe('characters-for-bytes', () => {
  const world = hostile();

  const RUN: RunEntry = { kind: 'run', event: '{}' };
  const STEP: RunEntry = { kind: 'step', input: stepInput() };
  const text = (chars: number) => `JSON.stringify('€'.repeat(${chars}))`;
  const CALLS: Record<string, [call: string, entry: RunEntry]> = {
    'an event': [`send(EMIT, 1, ${text(1_000_000)}, META)`, RUN],
    'all events': [`for (let i = 0; i < 8; i++) send(EMIT, 1, ${text(300_000)}, META)`, RUN],
    'a log line': [`send(LOG, 1, '1:1', '€'.repeat(16_000))`, RUN],
    'a key to set': [`send(DB_SET, 1, '€'.repeat(1000), '1')`, RUN],
    'a key to read': [`send(DB_GET, 1, '1', '€'.repeat(1000))`, RUN],
    'a value': [`send(DB_SET, 1, 'k', ${text(60_000)})`, RUN],
    'a value of a data store': [
      `send(DATA_STORE, 1, '1', '{"storeId":"ds_a","op":"set","key":"k"}', ${text(1_000_000)})`,
      RUN,
    ],
    'what is sent': [`for (let i = 0; i < 6; i++) send(STEP_SEND, 1, 'http', ${text(400_000)})`, STEP],
    'the context of a rerun': [
      `send(STEP_FLOW, 1, '{"kind":"rerun","ms":0,"maxRetries":1}', ${text(4_000_000)})`,
      STEP,
    ],
    'what a step returns': [`send(OUTCOME, 1, '[1,1]', ${text(4_000_000)})`, STEP],
  };

  it('each of them ends the process, and no other run notices', async () => {
    await world.unharmed(async () => {
      for (const [name, [call, entry]] of Object.entries(CALLS)) {
        const host = { ...recordingHost(), step: recordingStep().step };
        const ran = await runInForgedProcess(
          `function attack() { ${call}; send(OUTCOME, 1, '[1,1]'); }`,
          { entry },
          host,
        );
        expect([name, ran.outcome]).toMatchObject([name, { ok: false, fault: { code: 'SANDBOX_CRASHED' } }]);
        expect(ran.otherData).toEqual(['honest']);
      }
    });
  });
});

// process: A process that has been taken over and reports a code that is not its to report.
describe('faults-of-others', () => {
  const world = hostile();

  it('is ended, and the code is not believed', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  send(OUTCOME, 1, JSON.stringify([1, 1, 'RUN_ABANDONED', true]), 'm', '');
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(ran.problems[0]).toContain('a code that a run cannot have');
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and sends what are no frames: lengths of gigabytes,
// parts that overlap, unknown kinds.
describe('frames-of-no-kind', () => {
  const world = hostile();

  it('is ended at the first of them', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  send(EMIT, 1, '1', META);
  channel.write(Buffer.from([255, 255, 255, 127, 1, 2, 3]));
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(ran.problems[0]).toContain('broke the protocol');
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and floods its node with messages that no limit of a
// run stands against.
describe('messages-about-nothing', () => {
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

  it('is ended for each kind of flood', async () => {
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
});

// process: A process that has been taken over and speaks of runs that it was never given.
describe('messages-about-other-runs', () => {
  const world = hostile();

  it('reaches no run', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  for (const run of [0, 2, 3, 1000, 4294967295]) {
    send(EMIT, run, '"forged"', META);
    send(DB_SET, run, 'key', '1');
    send(OUTCOME, run, '[1,1]');
  }
  send(EMIT, 1, '"own"', META);
  send(OUTCOME, 1, '[1,1]');
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(ran.host.data()).toEqual(['own']);
    expect(ran.host.writes).toEqual([]);
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and reports times below nothing and beyond
// everything.
describe('numbers-that-are-none', () => {
  const world = hostile();

  it('is ended, and the numbers go nowhere', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  send(OUTCOME, 1, '[-1e300,1e300]');
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and ignores the limits that its isolates are held
// to.
describe('outputs-beyond-the-limits', () => {
  const world = hostile();

  it('the node counts again, and ends it', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  for (let i = 0; i < 20_000; i++) send(EMIT, 1, '"x"', META);
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(ran.host.events.length).toBeLessThanOrEqual(10_000);
    expect(ran.problems[0]).toContain('went over a limit');
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and answers nothing at all.
describe('process-that-falls-silent', () => {
  const world = hostile();

  it('is killed a second after the deadline of its run', async () => {
    const ran = await world.unharmed(() => runInForgedProcess('function attack() { for (;;); }', { wallMs: 2_000 }));
    expect(ran.outcome).toMatchObject({
      ok: false,
      innocent: false,
      fault: { code: 'WALL_LIMIT', limit: { name: 'httpRunWallMs', value: 2_000 } },
    });
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and says thousands of times that it has started.
describe('ready-again-and-again', () => {
  const world = hostile();

  it('is ended at the second, before a program was started for each', async () => {
    const attack = () =>
      runInForgedProcess(`function attack() {
  channel.write(Buffer.concat(Array(20_000).fill(frame(READY, 0))));
}`);
    let ran: Awaited<ReturnType<typeof attack>> | undefined;
    const turnMs = await world.unharmed(() => longestTurnMs(async () => void (ran = await attack())));
    expect(ran?.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(ran?.problems[0]).toContain('A process that becomes ready again');
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
    // With a program for each: 0.6 s.
    expect(turnMs / slowness()).toBeLessThan(300);
  });
});
