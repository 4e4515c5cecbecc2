import { describe, expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { bundle, freshKey, sandboxForFile, soon, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

describe('outputs of a run', () => {
  test('an event arrives as the JSON the component emitted, with its id, channel, summary and time', async () => {
    const before = Date.now();
    const { outcome, host } = await sandbox.run(
      withRun(`this.$emit({ got: event.n }, { id: 7, name: 'other', summary: 'seven', ts: 1234 })`),
      {
        event: { n: 'ü' },
      },
    );
    expect(outcome.ok).toBe(true);
    expect(host.events).toEqual([
      { data: '{"got":"ü"}', id: 7, name: 'other', summary: 'seven', ts: 1234, emittedAtMs: expect.any(Number) },
    ]);
    expect(host.events[0]!.emittedAtMs).toBeGreaterThanOrEqual(before);
  });

  test('ts may be a Date or digits, and a date that could not be parsed is no ts', async () => {
    const { outcome, host } = await sandbox.run(
      withRun(`for (const ts of [new Date(5), '6', NaN, new Date('never'), 7.9, 1e20]) this.$emit(0, { ts })`),
    );
    expect(outcome.ok).toBe(true);
    expect(host.events.map((event) => event.ts)).toEqual([5, 6, undefined, undefined, 7, undefined]);
    expect(host.logs).toMatchObject([{ message: expect.stringContaining('ts 100000000000000000000') }]);
  });

  test('events emitted before an error arrive before the outcome', async () => {
    const { outcome, host } = await sandbox.run(
      withRun(`for (let i = 0; i < 500; i++) this.$emit(i); throw new Error('after all')`),
    );
    expect(host.data()).toEqual(Array.from({ length: 500 }, (_, i) => i));
    expect(outcome).toMatchObject({
      ok: false,
      innocent: false,
      fault: { code: 'COMPONENT_ERROR', message: 'after all' },
    });
  });

  test('log lines carry level and text, formatted as console does', async () => {
    const { host } = await sandbox.run(
      withRun(
        `console.log('a %s has %d', 'cat', 9, { lives: [1, 'two'] }); console.warn(new Map([['k', 1]])); console.error('bad'); console.debug(undefined, null, -0)`,
      ),
    );
    expect(host.logs.map(({ level, message }) => [level, message])).toEqual([
      ['info', "a cat has 9 { lives: [ 1, 'two' ] }"],
      ['warn', "Map(1) { 'k' => 1 }"],
      ['error', 'bad'],
      ['debug', 'undefined null -0'],
    ]);
  });

  test('options that $emit does not know are told, each once', async () => {
    const { outcome, host } = await sandbox.run(
      withRun(`for (const id of [1, 2]) this.$emit(id, { id, summry: 'x', channel: 'y' }); this.$emit(3, null);
        this.$emit(4, { ['toString']: 1 }); for (let i = 0; i < 50; i++) this.$emit(i, { ['k' + i]: i });`),
    );
    const told = (name: string) => `$emit knows no option ${name}: it takes id, name, summary and ts`;
    const few = Array.from({ length: 7 }, (_, i) => `k${i}`);
    expect([outcome.ok, host.data().length]).toEqual([true, 54]);
    expect(host.messages()).toEqual(['summry', 'channel', 'toString', ...few].map(told));
  });

  test('CPU and wall time are measured', async () => {
    const { outcome } = await sandbox.run(
      withRun(`const end = Date.now() + 100; while (Date.now() < end); await new Promise((r) => setTimeout(r, 100))`),
    );
    expect(outcome.cpuMs).toBeGreaterThan(40);
    // The clock behind it counts the time in which the isolate has its thread, so a busy machine
    // adds to both.
    expect(outcome.wallMs - outcome.cpuMs).toBeGreaterThan(90);
    expect(outcome.wallMs).toBeGreaterThan(190);
  });
});

describe('the store', () => {
  test('get and set are synchronous, and a run sees its own writes', async () => {
    const host = recordingHost({ stored: { cursor: { page: 3 } } });
    const { outcome } = await sandbox.run(
      withRun(`
        const before = this.db.get('cursor').page;
        this.db.set('cursor', { page: before + 1 });
        this.$emit({ before, after: this.db.get('cursor').page, missing: typeof this.db.get('none'), awaited: await this.db.get('cursor') });`),
      { host, props: { db: { kind: 'db' } } },
    );
    expect(outcome.ok).toBe(true);
    expect(host.data()).toEqual([{ before: 3, after: 4, missing: 'undefined', awaited: { page: 4 } }]);
    expect(host.writes).toEqual([['cursor', '{"page":4}']]);
  });

  test('a value that is no JSON is refused with its key, and setting undefined deletes the key', async () => {
    const { host } = await sandbox.run(
      withRun(`
        this.db.set('u', 1);
        this.db.set('u', undefined);
        this.$emit(typeof this.db.get('u'));
        for (const value of [() => 1, 1n, (() => { const a = {}; a.a = a; return a })()]) {
          try { this.db.set('bad', value); this.$emit('stored') } catch (e) { this.$emit(e.message) }
        }
        try { this.db.set('big', 'x'.repeat(70000)) } catch (e) { this.$emit(e.message) }`),
      { props: { db: { kind: 'db' } } },
    );
    expect(host.writes).toEqual([
      ['u', '1'],
      ['u', ''],
    ]);
    expect(host.data()).toEqual([
      'undefined',
      "The value for 'bad' cannot be turned into JSON: it is a function",
      expect.stringContaining("The value for 'bad' cannot be turned into JSON: Do not know how to serialize a BigInt"),
      expect.stringContaining("The value for 'bad' cannot be turned into JSON: Converting circular structure"),
      'A value for $.service.db has 70 002 bytes of JSON; the limit maxDbValueBytes is 61 440 bytes',
    ]);
  });

  test('a store that fails is an error in the component, not a hang', async () => {
    const host = { ...recordingHost(), dbGet: () => Promise.reject(new Error('database at 10.0.0.1 is down')) };
    const { outcome } = await sandbox.run(withRun(`this.db.get('x')`), { host, props: { db: { kind: 'db' } } });
    expect(outcome).toMatchObject({
      ok: false,
      fault: { message: "The value of 'x' could not be read: the store did not answer" },
    });
  });
});

describe('props, methods and hooks', () => {
  test('this has the props, and methods that keep it when they are passed around', async () => {
    const code = `export default { name: 't', version: '1',
      methods: { add(n) { return this.base + n }, emitSum(a) { this.$emit(a.map(this.add)) } },
      async run() { const { emitSum } = this; emitSum([1, 2]); this.$emit([this.timer, this.http.endpoint]) } }`;
    const { host } = await sandbox.run(code, {
      props: {
        base: { kind: 'value', value: 10 },
        timer: { kind: 'timer', cron: '0 * * * *', timezone: 'UTC' },
        http: { kind: 'http', endpoint: 'https://hooks.example/e/1' },
      },
    });
    expect(host.data()).toEqual([
      [11, 12],
      [{ cron: '0 * * * *', timezone: 'UTC' }, 'https://hooks.example/e/1'],
    ]);
  });

  test('a hook runs on the same this, without an argument, and may emit', async () => {
    const code = `export default { name: 't', version: '1', methods: { hi() { return 'hi' } },
      hooks: { async deploy(...args) { this.$emit([this.hi(), args.length, this.key]) } }, run() {} }`;
    const { outcome, host } = await sandbox.run(code, {
      hook: 'deploy',
      props: { key: { kind: 'value', value: 'k' } },
    });
    expect(outcome.ok).toBe(true);
    expect(host.data()).toEqual([['hi', 0, 'k']]);
  });

  test('a hook that the component does not have does nothing', async () => {
    const { outcome } = await sandbox.run(withRun(''), { hook: 'activate' });
    expect(outcome.ok).toBe(true);
  });

  test('props are fresh in each run after changes by the last one', async () => {
    const component = await bundle(withRun(`this.$emit([this.list, this.extra]); this.list.push('x'); this.extra = 1`));
    const isolateKey = freshKey();
    const props = { list: { kind: 'value', value: ['a'] } } as const;
    await sandbox.run(component, { isolateKey, props });
    const { host } = await sandbox.run(component, { isolateKey, props });
    expect(host.data()).toEqual([[['a'], null]]);
  });
});

describe('refusals of $emit', () => {
  const cases: [title: string, call: string, dedupe: 'unique' | 'greatest' | undefined, message: string][] = [
    ['no id with dedupe', `this.$emit(1)`, 'unique', "$emit needs an id, because the component sets dedupe: 'unique'"],
    [
      'an id that is no number with greatest',
      `this.$emit(1, { id: 'abc' })`,
      'greatest',
      "$emit: id must be numeric, because the component sets dedupe: 'greatest'; got 'abc'",
    ],
    ['an object as id', `this.$emit(1, { id: {} })`, undefined, '$emit: id must be a string or a number, not object'],
    ['a ts that is no number', `this.$emit(1, { ts: 'now' })`, undefined, '$emit: ts must be a number of milliseconds'],
    [
      'a channel that is no string',
      `this.$emit(1, { name: 5 })`,
      undefined,
      '$emit: name must be a string, not number',
    ],
    ['a circular event', `const a = {}; a.a = a; this.$emit(a)`, undefined, 'Converting circular structure to JSON'],
  ];
  test.each(cases)('%s', async (_title, call, dedupe, message) => {
    const { outcome, host } = await sandbox.run(withRun(call), dedupe === undefined ? {} : { dedupe });
    expect(host.events).toEqual([]);
    expect(outcome).toMatchObject({
      ok: false,
      fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining(message) },
    });
  });

  test('an undefined event is null, a numeric string is an id for greatest, a long summary is cut', async () => {
    const { outcome, host } = await sandbox.run(
      withRun(`this.$emit(undefined, { id: '12', summary: 's'.repeat(2000) })`),
      { dedupe: 'greatest' },
    );
    expect(outcome.ok).toBe(true);
    expect(host.events).toMatchObject([{ data: 'null', id: '12', summary: `${'s'.repeat(999)}…` }]);
  });
});

describe('fetch', () => {
  test('a request goes to the host with method, headers and body, and its answer comes back', async () => {
    const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, '{"grüße":1}', 201)) });
    await sandbox.run(
      withRun(`
        const r = await fetch('https://api.example/x?a=1', { method: 'post', headers: { 'X-Key': 'k' }, body: JSON.stringify({ ü: 1 }) });
        this.$emit([r.ok, r.status, r.headers.get('Content-Type'), await r.json(), r instanceof Response]);`),
      { host },
    );
    expect(host.data()).toEqual([[true, 201, 'text/plain', { grüße: 1 }, true]]);
    const [request] = host.requests;
    expect(request).toMatchObject({ url: 'https://api.example/x?a=1', method: 'POST', redirect: 'follow' });
    expect(Object.fromEntries(request!.headers)).toEqual({ 'x-key': 'k', 'content-type': 'text/plain;charset=UTF-8' });
    expect(new TextDecoder().decode(request!.body)).toBe('{"ü":1}');
  });

  test("a request that fails is a TypeError with the host's message", async () => {
    const host = recordingHost({ fetch: () => Promise.resolve({ ok: false, message: 'the address is private' }) });
    const { outcome } = await sandbox.run(withRun(`await fetch('http://10.0.0.1/')`), { host });
    expect(outcome).toMatchObject({ ok: false, fault: { message: 'TypeError: fetch failed: the address is private' } });
  });

  test('an aborted request rejects in the component and is aborted at the host', async () => {
    const host = recordingHost({ fetch: () => new Promise(() => undefined) });
    await sandbox.run(
      withRun(
        `try { await fetch('http://a.example/', { signal: AbortSignal.timeout(20) }) } catch (e) { this.$emit(e.name) }`,
      ),
      { host },
    );
    expect(host.data()).toEqual(['TimeoutError']);
    expect(host.aborted).toEqual(['http://a.example/']);
  });

  test('an open request is aborted when its run ends', async () => {
    const host = recordingHost({ fetch: () => new Promise(() => undefined) });
    const { outcome } = await sandbox.run(withRun(`fetch('http://a.example/')`), { host, wallMs: 1_500 });
    expect(outcome.ok).toBe(true);
    await soon(() => host.aborted).toEqual(['http://a.example/']);
  });
});
