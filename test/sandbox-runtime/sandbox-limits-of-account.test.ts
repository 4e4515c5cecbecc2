import type { AccountLimits, ExceededLimit } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { bundle, freshKey, type RunOptions, sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

const FETCH = `const go = (body) => fetch('http://a.example/', { method: 'POST', body });`;

interface Attempt {
  title: string;
  account: Partial<AccountLimits>;
  body: string;
  code: 'OUTPUT_LIMIT' | 'RESOURCE_LIMIT';
  limit: ExceededLimit;
}

const attempts: Attempt[] = [
  {
    title: 'an event that is too large',
    account: { maxEventBytes: 1024 },
    body: `this.$emit('x'.repeat(1023))`,
    code: 'OUTPUT_LIMIT',
    limit: { name: 'maxEventBytes', value: 1024, used: 1025 },
  },
  {
    title: 'too many timers',
    account: { maxTimersPerRun: 3 },
    body: `for (;;) setTimeout(() => {}, 1000)`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxTimersPerRun', value: 3, used: 4 },
  },
  {
    title: 'too many requests',
    account: { maxFetchesPerRun: 2 },
    body: `${FETCH} for (;;) await go()`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchesPerRun', value: 2, used: 3 },
  },
  {
    title: 'the body of a request that is too large',
    account: { maxFetchRequestBytes: 1024 },
    body: `${FETCH} await go('x'.repeat(2000))`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchRequestBytes', value: 1024, used: 2000 },
  },
  {
    title: 'too many bytes sent',
    account: { maxUploadBytesPerRun: 1024 },
    body: `${FETCH} for (;;) await go('x'.repeat(500))`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxUploadBytesPerRun', value: 1024, used: 1500 },
  },
  {
    title: 'too many bytes received',
    account: { maxDownloadBytesPerRun: 1024 },
    body: `${FETCH} for (;;) await go()`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxDownloadBytesPerRun', value: 1024, used: 1200 },
  },
  {
    title: 'too many bytes received through http',
    account: { maxDownloadBytesPerRun: 1024 },
    body: `for (;;) await new Promise((done, failed) => {
      http.get('http://a.example/', (r) => r.resume().on('end', done)).on('error', failed) })`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxDownloadBytesPerRun', value: 1024, used: 1200 },
  },
  {
    title: 'too many requests through http',
    account: { maxFetchesPerRun: 1 },
    body: `http.get('http://a.example/'); http.get('http://a.example/'); await new Promise(() => {})`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchesPerRun', value: 1, used: 2 },
  },
  {
    title: 'too many bytes below /tmp',
    account: { maxTmpBytes: 1024 },
    body: `for (;;) fs.appendFileSync('/tmp/x', 'x'.repeat(600))`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxTmpBytes', value: 1024, used: 1200 },
  },
  {
    title: 'too many files below /tmp',
    account: { maxTmpEntries: 2 },
    body: `for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + i, '')`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxTmpEntries', value: 2, used: 3 },
  },
  {
    title: 'a value of the store that is too large',
    account: { maxDbValueBytes: 1024 },
    body: `this.db.set('x', 'ü'.repeat(600))`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxDbValueBytes', value: 1024, used: 1202 },
  },
  {
    title: 'too many reads of the store',
    account: { maxDbReadsPerRun: 10 },
    body: `for (;;) this.db.get('x')`,
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxDbReadsPerRun', value: 10, used: 11 },
  },
];

const IMPORTS = `import fs from 'fs'; import http from 'http';`;

function options(account: Partial<AccountLimits>): RunOptions {
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, 'x'.repeat(600))) });
  return { account, host, props: { db: { kind: 'db' } } };
}

describe('a limit of the account that a component meets', () => {
  test.each(attempts)('$title ends the run with that limit', async ({ account, body, code, limit }) => {
    const { outcome } = await sandbox.run(withRun(body, IMPORTS), options(account));
    const message = expect.stringContaining(`; the limit ${limit.name} is `);
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code, limit, message } });
  });

  const synchronous = attempts.filter(({ body }) => !body.includes('await'));
  test.each(synchronous)('$title is reported at the line of the author', async ({ account, body }) => {
    const { outcome } = await sandbox.run(withRun(body, IMPORTS), options(account));
    expect(outcome).toMatchObject({ fault: { stack: expect.stringMatching(/:2:\d+/) } });
  });

  // A request through http fails as an event; nothing around it can catch that.
  const catchable = attempts.filter(({ body }) => !body.includes('http.get'));
  test.each(catchable)('$title can be caught, and the run goes on', async ({ account, body, limit }) => {
    const caught = `this.$emit([error.name, error instanceof Error, error.limit, error.message])`;
    const run = withRun(
      `const go = async () => { ${body} }; try { await go.call(this) } catch (error) { ${caught} }`,
      IMPORTS,
    );
    const { outcome, host } = await sandbox.run(run, options(account));
    expect(outcome).toMatchObject({ ok: true });
    expect(host.data()).toEqual([['LimitError', true, limit, expect.stringContaining(`the limit ${limit.name} is`)]]);
  });
});

describe('a limit on the output of a run', () => {
  const floods: [title: string, account: Partial<AccountLimits>, body: string, limit: ExceededLimit][] = [
    ['emits', { maxEmitsPerRun: 3 }, `this.$emit(1)`, { name: 'maxEmitsPerRun', value: 3, used: 4 }],
    [
      'bytes of events',
      { maxRunOutputBytes: 65_536 },
      // Its time counts as well.
      `this.$emit('x'.repeat(29969))`,
      { name: 'maxRunOutputBytes', value: 65_536, used: 90_000 },
    ],
    [
      'bytes of log lines',
      { maxRunOutputBytes: 65_536, maxLogLineBytes: 30_000 },
      `console.log('x'.repeat(40000))`,
      { name: 'maxRunOutputBytes', value: 65_536, used: 89_979 },
    ],
    [
      'bytes of stored values',
      { maxRunOutputBytes: 65_536 },
      `this.db.set('k', 'x'.repeat(29933))`,
      { name: 'maxRunOutputBytes', value: 65_536, used: 90_000 },
    ],
  ];
  test.each(floods)('%s ends it even when the component catches the error', async (_title, account, body, limit) => {
    const { outcome } = await sandbox.run(
      withRun(`for (let i = 0; i < 5; i++) try { ${body} } catch {}`),
      options(account),
    );
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'OUTPUT_LIMIT', limit } });
  });

  test('log lines beyond the limit of the account are dropped, and longer ones are cut', async () => {
    const account = { maxLogLinesPerRun: 10, maxLogLineBytes: 256 };
    const { outcome, host } = await sandbox.run(withRun(`for (let i = 0; i < 99; i++) console.log('x'.repeat(300))`), {
      account,
    });
    expect(outcome.ok).toBe(true);
    expect(host.logs).toHaveLength(11);
    expect(host.messages().every((message) => message.length <= 256)).toBe(true);
    const cut = { name: 'maxLogLineBytes', value: 256, used: 300 };
    const last = { name: 'maxLogLinesPerRun', value: 10, used: 11 };
    expect(host.logs.map(({ limit }) => limit)).toEqual([...Array.from({ length: 10 }, () => cut), last]);
  });

  test('lines that there is no room for do not end those that come', async () => {
    const account = { maxLogLinesPerRun: 10, maxLogLineBytes: 16_384, maxRunOutputBytes: 65_536 };
    const { outcome, host } = await sandbox.run(
      withRun(`for (let i = 0; i < 99; i++) try { console.log('x'.repeat(15_000)) } catch {}`),
      options(account),
    );
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes' } } });
    expect(host.messages().map(({ length }) => length)).toEqual([15_000, 15_000, 15_000, 15_000]);
  });

  test('an unhandled rejection while the component loads is a line among the others', async () => {
    const account = { maxLogLinesPerRun: 10, maxLogLineBytes: 256 };
    const { outcome, host } = await sandbox.run(
      withRun(
        `for (let i = 0; i < 12; i++) console.log(i); this.$emit('ended')`,
        `Promise.reject(new Error('x'.repeat(300)));`,
      ),
      { account },
    );
    expect(outcome.ok).toBe(true);
    expect(host.data()).toEqual(['ended']);
    expect(host.logs).toHaveLength(11);
    const text = expect.stringMatching(/^Unhandled rejection: x+… \(cut\)$/) as string;
    expect(host.logs[0]).toMatchObject({ message: text, limit: { name: 'maxLogLineBytes', value: 256, used: 321 } });
    expect(host.logs.at(-1)).toMatchObject({ limit: { name: 'maxLogLinesPerRun', value: 10, used: 11 } });
  });

  const FULL = 65_536;
  const longest: [title: string, line: string, used: number | undefined][] = [
    ['a text as long as', `'x'.repeat(${FULL})`, undefined],
    ['a text longer than', `'x'.repeat(70000)`, FULL + 1],
    ['an object shorter than', `{ a: Array(4).fill('x'.repeat(9000)) }`, undefined],
    ['an object longer than', `{ a: Array(4).fill('x'.repeat(9000)), b: Array(4).fill('x'.repeat(9000)) }`, FULL + 1],
  ];
  test.each(longest)('%s the longest limit of a line is not cut in silence', async (_title, line, used) => {
    const { host } = await sandbox.run(withRun(`console.log(${line})`), { account: { maxLogLineBytes: FULL } });
    const [logged] = host.logs;
    expect(logged?.limit?.used ?? 0).toBeGreaterThanOrEqual(used ?? 0);
    expect(logged?.message.includes('…')).toBe(used !== undefined);
    expect(logged?.limit === undefined).toBe(used === undefined);
  });
});

describe('a change of limits', () => {
  test('holds for the next run of a warm isolate, and not for one under way', async () => {
    const component = await bundle(
      withRun(
        `count += 1; if (event.wait) await new Promise((go) => { started = go }); else started?.();
         let n = 0; try { for (; n < 9; n++) this.$emit(n) } catch {} this.db.set('n', [count, n])`,
        'let count = 0; let started;',
      ),
    );
    const isolateKey = freshKey();
    const props = { db: { kind: 'db' } } as const;
    const early = sandbox.run(component, { isolateKey, props, event: { wait: true }, account: { maxEmitsPerRun: 2 } });
    const later = await sandbox.run(component, { isolateKey, props, account: { maxEmitsPerRun: 4 } });
    expect(later.host.writes).toEqual([['n', '[2,4]']]);
    expect((await early).host.writes).toEqual([['n', '[2,2]']]);
    const back = await sandbox.run(component, { isolateKey, props });
    expect(back.outcome.ok).toBe(true);
    expect(back.host.writes).toEqual([['n', '[3,9]']]);
  });

  test('to memory gives the next run an isolate of its own', async () => {
    const component = await bundle(
      withRun(
        `count += 1; this.$emit(count); if (event.mb) kept.push(...Array.from({ length: event.mb }, () => new Array(131072).fill(1.5)))`,
        'let count = 0; const kept = [];',
      ),
    );
    const isolateKey = freshKey();
    await sandbox.run(component, { isolateKey, memoryMb: 64 });
    const large = await sandbox.run(component, { isolateKey, memoryMb: 256, event: { mb: 120 } });
    expect(large.outcome.ok).toBe(true);
    expect(large.host.data()).toEqual([1]);
    const small = await sandbox.run(component, { isolateKey, memoryMb: 64, event: { mb: 120 } });
    expect(small.outcome).toMatchObject({ ok: false, fault: { code: 'MEMORY_LIMIT', limit: { value: 64 } } });
  });

  test('is of one account: another is kept to its own', async () => {
    const run = withRun(`for (let i = 0; i < 5; i++) this.$emit(i)`);
    const [low, high] = await Promise.all([
      sandbox.run(run, { tenantId: 'o_low', account: { maxEmitsPerRun: 2 } }),
      sandbox.run(run, { tenantId: 'o_high', account: { maxEmitsPerRun: 5 } }),
    ]);
    expect(low.outcome).toMatchObject({ ok: false, fault: { limit: { value: 2 } } });
    expect(high.outcome.ok).toBe(true);
  });
});

test('a LimitError cannot be made by a component, and one that is altered tells the truth', async () => {
  const provoke = `let caught; try { this.$emit('x'.repeat(2000)) } catch (error) { caught = error }`;
  const account = { maxEventBytes: 1024 };
  const limit = { name: 'maxEventBytes', value: 1024, used: 2002 };
  const altered = await sandbox.run(withRun(`${provoke} caught.limit.name = 'x'; caught.message = 'y'; throw caught`), {
    account,
  });
  expect(altered.outcome).toMatchObject({ fault: { code: 'OUTPUT_LIMIT', limit } });
  const forged = `throw { __proto__: caught, name: 'LimitError', limit: { name: 'memoryMb', value: 1, used: 2 } }`;
  const fake = await sandbox.run(withRun(`${provoke} ${forged}`), { account });
  expect(fake.outcome).toMatchObject({ fault: { code: 'COMPONENT_ERROR' } });
  expect(fake.outcome).not.toHaveProperty('fault.limit');
  const made = await sandbox.run(
    withRun(`${provoke} try { new caught.constructor(caught.limit, 'x') } catch (error) { this.$emit(error.message) }`),
    { account },
  );
  expect(made.host.data()).toEqual(['Illegal constructor']);
});
