import { expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { bundle, sandboxForFile, soon, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

const later = <T>(value: T, ms = 20): Promise<T> => new Promise((resolve) => void setTimeout(resolve, ms, value));

function host() {
  return recordingHost({
    fetch: (request) => later(textAnswer(request, request.url.slice(-1))),
    dataStore: () => later({ ok: true, json: '"stored"' } as const),
  });
}

/** Work that a component starts and does not await, and the events that it must still produce. */
const KEPT: Record<string, [body: string, events: unknown[]]> = {
  'a forEach of async functions': [
    `[0, 1, 2].forEach(async (i) => { await fetch('http://a.example/' + i); this.$emit({ i }); });`,
    [{ i: 0 }, { i: 1 }, { i: 2 }],
  ],
  'a timer': [`setTimeout(() => this.$emit('timer'), 30);`, ['timer']],
  'a timer that begins another': [
    `setTimeout(() => setTimeout(() => setImmediate(() => this.$emit('third')), 5), 5);`,
    ['third'],
  ],
  'an interval that ends itself': [
    `let n = 0; const t = setInterval(() => { this.$emit(n); if (++n === 2) clearInterval(t) }, 5);`,
    [0, 1],
  ],
  'a timer that is begun anew': [
    `let n = 0; const t = setTimeout(() => { this.$emit(++n); if (n < 3) t.refresh() }, 2);`,
    [1, 2, 3],
  ],
  'callbacks of http.get': [
    `http.get('http://a.example/7', (answer) => { let text = ''; answer.on('data', (part) => (text += part)); answer.on('end', () => this.$emit(text)) });`,
    ['7'],
  ],
  'an async method': [
    `const load = async () => { for (let i = 0; i < 50; i++) await null; this.$emit('late') }; load();`,
    ['late'],
  ],
  'a chain of promises': [
    `fetch('http://a.example/1').then((r) => r.text()).then((t) => fetch('http://a.example/' + t)).then((r) => r.text()).then((t) => this.$emit(t));`,
    ['1'],
  ],
  'crypto.subtle': [`crypto.subtle.digest('SHA-256', new Uint8Array(4)).then((d) => this.$emit(d.byteLength));`, [32]],
  'a stream': [
    `stream.pipeline(stream.Readable.from(['a', 'b']), async function* (source) { for await (const part of source) { await new Promise((r) => setTimeout(r, 2)); yield part } }, async (source) => { for await (const part of source) this.$emit(part) }, () => {});`,
    ['a', 'b'],
  ],
  'process.nextTick and queueMicrotask': [
    `process.nextTick(() => queueMicrotask(() => this.$emit('tick')));`,
    ['tick'],
  ],
  'the end of a run by a callback': [
    `return new Promise((resolve) => { resolve(); setTimeout(() => this.$emit('after'), 5) });`,
    ['after'],
  ],
};

for (const [what, [body, events]] of Object.entries(KEPT)) {
  test(`not awaited and not lost: ${what}`, async () => {
    const ran = host();
    const { outcome } = await sandbox.run(withRun(body, `import http from 'http'; import stream from 'stream';`), {
      host: ran,
    });
    expect([outcome, ran.messages()]).toMatchObject([{ ok: true }, []]);
    expect(ran.data().toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))).toEqual(events);
  });
}

test('values that are stored after the run ended are stored', async () => {
  const ran = host();
  const { outcome } = await sandbox.run(withRun(`setTimeout(() => this.db.set('k', 1), 10);`), {
    host: ran,
    props: { db: { kind: 'db' } },
  });
  expect([outcome.ok, ran.writes]).toEqual([true, [['k', '1']]]);
});

test('a run with nothing open ends at once, also with timeouts that are only a precaution', async () => {
  const body = `await fetch('http://a.example/1', { signal: AbortSignal.timeout(30_000) }); setTimeout(() => this.$emit('never'), 30_000).unref();
    const t = setTimeout(() => this.$emit('never'), 30_000); clearTimeout(t); new Promise(() => {}); this.$emit('ran');`;
  const { outcome, host: ran } = await sandbox.run(withRun(body), { host: host(), wallMs: 60_000 });
  expect([outcome.ok, ran.data(), ran.messages()]).toEqual([true, ['ran'], []]);
  expect(outcome.wallMs).toBeLessThan(30_000);
});

test('requests open at the time limit are named, and the earlier events count', async () => {
  const ran = recordingHost({ fetch: () => new Promise(() => undefined) });
  const body = `this.$emit('first'); fetch('https://a.example/path?key=secret').catch(() => {}); fetch('https://b.example/', { method: 'POST' }).catch(() => {});
    setTimeout(() => {}, 60000); setInterval(() => this.$emit('tick'), 60000);`;
  const { outcome } = await sandbox.run(withRun(body), { host: ran, wallMs: 400 });
  expect([outcome.ok, ran.data()]).toEqual([true, ['first']]);
  expect(ran.logs).toMatchObject([
    {
      level: 'warn',
      message:
        'Still running when the run ended: fetch GET https://a.example/path, fetch POST https://b.example/, 1 timer, 1 interval',
    },
  ]);
});

test('a request that hangs as long as its run may is named, and does not fail it', async () => {
  const wallMs = 1_000;
  const timedOut = { ok: false, message: 'took too long' } as const;
  const ran = recordingHost({ fetch: () => later(timedOut, wallMs - 20) });
  const code = withRun(`if (event.warm) return; fetch('https://a.example/hangs'); this.$emit('ran');`);
  const isolateKey = 'dc_hangs:1';
  await sandbox.run(code, { isolateKey, event: { warm: true } });
  const { outcome } = await sandbox.run(code, { isolateKey, host: ran, wallMs });
  expect([outcome.ok, ran.data()]).toEqual([true, ['ran']]);
  expect(ran.messages()).toEqual(['Still running when the run ended: fetch GET https://a.example/hangs']);
});

test('a request that hangs as long as its run may fails for another run that waits for it', async () => {
  const wallMs = 1_000;
  const timedOut = { ok: false, message: 'took too long' } as const;
  const ran = recordingHost({ fetch: () => later(timedOut, wallMs - 20) });
  const code = await bundle(
    withRun(
      `if (event.warm) return;
     if (event.asks) { shared = fetch('https://a.example/hangs'); return }
     this.$emit(await shared.then(() => 'answered', (error) => String(error.cause?.message ?? error.message)));`,
      'let shared;',
    ),
  );
  const isolateKey = 'dc_shares:1';
  await sandbox.run(code, { isolateKey, event: { warm: true } });
  const asking = sandbox.run(code, { isolateKey, host: ran, wallMs, event: { asks: true } });
  await soon(() => ran.requests.length).toBe(1);
  const waiting = sandbox.run(code, { isolateKey });
  const [{ outcome: asked }, { outcome: waited, host: other }] = await Promise.all([asking, waiting]);
  expect([asked.ok, waited.ok, other.data()]).toEqual([true, true, [expect.stringContaining('took too long')]]);
  expect(ran.messages()).toEqual(['Still running when the run ended: fetch GET https://a.example/hangs']);
});

test('an interval that is never cleared does not hold the run to its limit, and is named', {
  timeout: 30_000,
}, async () => {
  const { outcome, host: ran } = await sandbox.run(withRun(`setInterval(() => this.$emit('tick'), 1000);`), {
    host: host(),
    wallMs: 25_000,
  });
  expect(outcome.ok).toBe(true);
  expect(outcome.wallMs).toBeLessThan(20_000);
  expect(ran.data().length).toBeGreaterThan(0);
  expect(ran.logs).toMatchObject([{ level: 'warn', message: 'Still running when the run ended: 1 interval' }]);
});

/** Errors that the code does not await are errors of the run. */
const FAILING: Record<string, [body: string, message: string]> = {
  'a rejection': [`Promise.reject(new TypeError('lost'));`, 'Unhandled rejection: TypeError: lost'],
  'a rejection after the end': [
    `setTimeout(async () => { throw new RangeError('late') }, 5);`,
    'Unhandled rejection: RangeError: late',
  ],
  'an async method that fails': [
    `const load = async () => { await fetch('http://a.example/1'); null.x }; load();`,
    'Unhandled rejection: TypeError: Cannot read properties of null',
  ],
  'a timer that throws after the end': [`setTimeout(() => { throw new Error('in a timer') }, 5);`, 'in a timer'],
  'an emitter without a listener': [
    `setTimeout(() => new (process.getBuiltinModule('events'))().emit('error', new Error('unheard')), 5);`,
    'unheard',
  ],
};

for (const [what, [body, message]] of Object.entries(FAILING)) {
  test(`the run fails with ${what}`, async () => {
    const { outcome } = await sandbox.run(withRun(body), { host: host() });
    expect(outcome).toMatchObject({
      ok: false,
      fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining(message) },
    });
  });
}

/** Reasons whose text is far longer than the record may have. */
const LARGE_REASONS: Record<string, [reason: string, message: string]> = {
  'a string': [`'\\u0101'.repeat(6e7)`, 'Thrown: \u0101\u0101'],
  'a bigint': ['1n << 200_000_000n', 'Thrown: a bigint'],
};

for (const [what, [reason, message]] of Object.entries(LARGE_REASONS)) {
  test(`a reason as large as memory allows ends its run alone: ${what}`, async () => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const other = recordingHost({ fetch: (request) => isOver.then(() => textAnswer(request, 'beside')) });
    const beside = sandbox.run(withRun(`this.$emit(await (await fetch('http://a.example/')).text());`), {
      host: other,
    });
    await soon(() => other.requests.length).toBe(1);
    const { outcome } = await sandbox.run(withRun(`Promise.reject(${reason});`), { memoryMb: 256 });
    end();
    const { fault } = outcome as { fault?: { code: string; message: string } };
    expect(fault?.code).toBe('COMPONENT_ERROR');
    expect(fault?.message.slice(0, 80)).toContain(`Unhandled rejection: ${message}`);
    expect(fault?.message.length).toBeLessThan(5_000);
    expect([(await beside).outcome.ok, other.data()]).toEqual([true, ['beside']]);
  });
}

/** Thrown values, and how the record of the run tells of them. */
const REASONS: [reason: string, message: string, details?: string[]][] = [
  ['{ status: 404 }', 'Thrown: { status: 404 }'],
  [`{ message: 'x', code: 1 }`, 'x', [`  [thrown]: { message: 'x', code: 1 }`]],
  [`new (class Failure { constructor() { this.why = 'no' } })()`, `Thrown: Failure { why: 'no' }`],
  [
    `Object.assign(new Error('late'), { code: 'E_LATE', status: 503, retry: false })`,
    'late',
    [`  [fields]: { code: 'E_LATE', status: 503, retry: false }`],
  ],
  [`'only text'`, `Thrown: 'only text'`],
  ['undefined', 'Thrown: undefined'],
  ['10n', 'Thrown: 10n'],
];

test.each(REASONS)('a run that throws %s tells of it as Node does', async (reason, message, lines = []) => {
  const { outcome } = await sandbox.run(withRun(`throw ${reason};`));
  expect(outcome).toMatchObject({ ok: false, fault: { code: 'COMPONENT_ERROR', message } });
  const { stack = '' } = (outcome as { fault: { stack?: string } }).fault;
  for (const line of lines) expect(stack.split('\n')).toContain(line);
});

test('a listener of process that is never called is told, once for each event', async () => {
  const body = `process.on('exit', () => {}).once('beforeExit', () => {}); process.addListener('SIGTERM', () => {}); process.on('unhandledRejection', () => {}); process.on('exit', () => {}); process.on('mine', () => this.$emit('mine')).emit('mine');`;
  const code = withRun(body);
  const first = await sandbox.run(code, { isolateKey: 'dc_never:1' });
  const second = await sandbox.run(code, { isolateKey: 'dc_never:1' });
  expect([first.outcome.ok, first.host.data()]).toEqual([true, ['mine']]);
  expect(first.host.logs.map(({ level, message }) => [level, message])).toEqual([
    ['warn', `Listeners of process for 'exit' are never called: a process outlives its runs`],
    ['warn', `Listeners of process for 'beforeExit' are never called: a process outlives its runs`],
    ['warn', `Listeners of process for 'SIGTERM' are never called: no signal reaches a component`],
    ['warn', `Listeners of process for 'unhandledRejection' are never called: what nothing caught fails the run`],
  ]);
  expect(second.host.messages()).toEqual([]);
});

test('a rejection that is handled later in the same turn is none', async () => {
  const { outcome, host: ran } = await sandbox.run(
    withRun(`const failed = Promise.reject(new Error('x')); await null; failed.catch(() => this.$emit('caught'));`),
  );
  expect([outcome.ok, ran.data(), ran.messages()]).toEqual([true, ['caught'], []]);
});

test('forty requests at once are all made, no more at a time than the account may have', async () => {
  let [open, most] = [0, 0];
  const { promise: allThatMay, resolve: areOpen } = Promise.withResolvers<void>();
  const ran = recordingHost({
    fetch: async (request) => {
      open += 1;
      most = Math.max(most, open);
      if (open === 8) areOpen();
      await allThatMay;
      await later(undefined, 5);
      open -= 1;
      return textAnswer(request, 'ok');
    },
  });
  const { outcome } = await sandbox.run(
    withRun(
      `const all = await Promise.all(Array.from({ length: 40 }, (_, i) => fetch('http://a.example/' + i).then((r) => r.text())));
       const more = await Promise.all(Array.from({ length: 12 }, (_, i) => new Promise((done) => http.get('http://a.example/' + i, (r) => done(r.resume().statusCode)))));
       this.$emit([all.length, new Set(all).size, more.length]);`,
      `import http from 'http';`,
    ),
    { host: ran, account: { maxFetchesInFlightPerRun: 8 } },
  );
  expect([outcome.ok, ran.data(), most]).toEqual([true, [[40, 1, 12]], 8]);
});

test('runs beside one that waits are their own', async () => {
  const code = withRun(
    `if (event.wait) setTimeout(() => this.$emit(['late', event.n]), 100); else this.$emit(['now', event.n]); console.log(event.n);`,
  );
  const isolateKey = 'dc_beside:1';
  const runs = await Promise.all(
    [0, 1, 2, 3].map((n) => sandbox.run(code, { host: host(), isolateKey, event: { n, wait: n % 2 === 0 } })),
  );
  expect(runs.map(({ host: ran }) => [ran.data(), ran.messages()])).toEqual([
    [[['late', 0]], ['0']],
    [[['now', 1]], ['1']],
    [[['late', 2]], ['2']],
    [[['now', 3]], ['3']],
  ]);
});
