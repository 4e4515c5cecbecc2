import { accountLimits, type ExceededLimit } from '@headwater/shared';
import { expect, test } from 'vitest';
import type { RunRequest } from '@headwater/sandbox-runtime';
import { CpuClock } from '../../sandbox-runtime/src/worker/cpu-clock.ts';
import { ProcessRun } from '../../sandbox-runtime/src/worker/process-run.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/bridge/guest-limits.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';
import { runStep, withStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();

const heads: [title: string, head: string, limit: ExceededLimit][] = [
  ['a method', `{ method: 'M'.repeat(300) }`, { name: 'maxFetchMethodChars', value: 256, used: 300 }],
  [
    'the name of a header',
    `{ headers: { ['n'.repeat(300)]: 'x' } }`,
    { name: 'maxHeaderNameChars', value: 256, used: 300 },
  ],
  [
    'a head',
    `{ headers: { a: 'x'.repeat(300_000) } }`,
    { name: 'maxHeadChars', value: 262_144, used: expect.any(Number) },
  ],
];
test.each(heads)('%s that is too long for a request names its limit', async (_title, head, limit) => {
  const url = `'http://a.example/'`;
  for (const send of [`fetch(${url}, ${head})`, `http.request(${url}, ${head}).end()`]) {
    const go = `const go = async () => { await ${send}; await new Promise(() => {}) };`;
    const { outcome } = await sandbox.run(withRun(`${go} await go()`, `import http from 'http';`));
    const message = expect.stringContaining(`; the limit ${limit.name} is `);
    expect([send, outcome]).toMatchObject([send, { ok: false, fault: { code: 'RESOURCE_LIMIT', limit, message } }]);
  }
  const tried = `try { await fetch(${url}, ${head}) } catch (error) { this.$emit([error instanceof TypeError, error.limit]) }`;
  expect((await sandbox.run(withRun(tried))).host.data()).toEqual([[true, limit]]);
});

const names: [title: string, call: string, limit: ExceededLimit][] = [
  ['a URL', `await fetch('http://a/' + x)`, { name: 'maxFetchUrlChars', value: 16_384, used: 20_009 }],
  ['an id of an event', `this.$emit(1, { id: x })`, { name: 'maxEventIdChars', value: 512, used: 20_000 }],
  ['a channel of an event', `this.$emit(1, { name: x })`, { name: 'maxChannelChars', value: 128, used: 20_000 }],
  ['a key of the store', `this.db.get(x)`, { name: 'maxDbKeyBytes', value: 1_024, used: 20_000 }],
];
const namesOfSteps: typeof names = [
  ['an export', `$.export(x, 1)`, { name: 'maxExportNameChars', value: 128, used: 20_000 }],
  ['a channel of $.send.emit', `$.send.emit(1, x)`, { name: 'maxChannelChars', value: 128, used: 20_000 }],
  [
    'a channel of $.send.sse',
    `$.send.sse({ channel: x, payload: 1 })`,
    { name: 'maxChannelChars', value: 128, used: 20_000 },
  ],
  [
    'a URL of $.send.http',
    `$.send.http({ url: 'http://a/' + x })`,
    { name: 'maxFetchUrlChars', value: 16_384, used: 20_009 },
  ],
];
const props: RunRequest['props'] = { db: { kind: 'db' } };
const LONG = `const x = 'x'.repeat(20_000);`;

function failedBy(limit: ExceededLimit) {
  const message = expect.stringContaining(`; the limit ${limit.name} is `);
  return { ok: false, innocent: false, fault: { code: 'RESOURCE_LIMIT', limit, message } };
}

test.each(names)('%s that is too long names its limit', async (_title, call, limit) => {
  expect((await sandbox.run(withRun(`${LONG} ${call}`), { props })).outcome).toMatchObject(failedBy(limit));
  const tried = `${LONG} try { ${call} } catch (error) { this.$emit([error.name, error.limit]) }`;
  const name = call.includes('fetch') ? 'TypeError' : 'LimitError';
  expect((await sandbox.run(withRun(tried), { props })).host.data()).toEqual([[name, limit]]);
});

test.each(namesOfSteps)('%s that is too long names its limit', async (_title, call, limit) => {
  expect((await runStep(sandbox.run, withStep(`${LONG} ${call}`))).outcome).toMatchObject(failedBy(limit));
});

const calls: [title: string, body: string, limit: ExceededLimit][] = [
  [
    'calls of crypto.subtle',
    `await Promise.all(Array.from({ length: 1_001 }, () => crypto.subtle.digest('SHA-1', new Uint8Array(1))))`,
    { name: 'maxOpenCalls', value: 1_000, used: 1_001 },
  ],
  [
    'bytes in calls of crypto.subtle',
    `await Promise.all([0, 0].map(() => crypto.subtle.digest('SHA-1', new Uint8Array(25 * 2 ** 20))))`,
    { name: 'maxOpenCallBytes', value: 50_331_648, used: expect.any(Number) },
  ],
];
test.each(calls)('%s at the same time are bounded', async (_title, body, limit) => {
  const caught = `try { ${body} } catch (error) { this.$emit([error.name, error.limit]); throw error }`;
  // Tens of megabytes are copied, which takes a busy machine its time.
  const { outcome, host } = await sandbox.run(withRun(caught), { memoryMb: 512, cpuMs: 100_000, wallMs: 120_000 });
  const message = expect.stringContaining(`; the limit ${limit.name} is `);
  expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'RESOURCE_LIMIT', limit, message } });
  expect(host.data()).toEqual([['OperationError', limit]]);
});

test('a process counts the calls of a run itself and ignores the count of the isolate', async () => {
  const { limits, text } = {
    limits: { ...pickGuestLimits(accountLimits()), maxOpenCalls: 2, maxOpenCallBytes: 20 },
    text: '',
  };
  const run = new ProcessRun(
    {
      run: 1,
      entry: 'run',
      limits: { cpuMs: 1_000, wallMs: 1_000, wallLimit: 'timerRunWallMs', memoryMb: 128 },
    },
    { limits, text },
    new CpuClock(),
  );
  const work = Promise.withResolvers<void>();
  const first = run.workBeside(10, () => work.promise);
  expect(run.openCallsOver(1)).toBeUndefined();
  expect(run.openCallsOver(11)).toEqual({ name: 'maxOpenCallBytes', value: 20, used: 21 });
  const second = run.workBeside(10, () => work.promise);
  expect(run.openCallsOver(1)).toEqual({ name: 'maxOpenCalls', value: 2, used: 3 });
  work.resolve();
  await Promise.all([first, second]);
  expect(run.openCallsOver(1)).toBeUndefined();
});
