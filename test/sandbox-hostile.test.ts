import { expect, test } from 'vitest';
import { recordingHost, textAnswer } from './support/run-host.ts';
import { bundle, freshKey, sandboxForFile, withRun } from './support/sandbox-kit.ts';

const sandbox = sandboxForFile();

// Each of these holds its thread inside V8, where neither a timeout nor the end of the isolate reaches it.
const unstoppable: [title: string, body: string][] = [
  ['includes over 2^53 elements', `Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)`],
  ['indexOf over 2^53 elements', `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`],
  ['a huge BigInt as text', `(1n << 300000000n).toString()`],
];
test.each(unstoppable)(
  '%s fails that run only; a run of another tenant and one of the same process end well',
  async (_title, body) => {
    const slow = withRun(`await new Promise((r) => setTimeout(r, 1500)); this.$emit('fine')`);
    const others = Promise.all([sandbox.run(slow, { tenantId: 'o_other' }), sandbox.run(slow, { tenantId: 'o_same' })]);
    const { outcome, host } = await sandbox.run(withRun(`this.$emit('before'); await null; ${body}`), {
      tenantId: 'o_same',
      cpuMs: 400,
      wallMs: 5_000,
    });
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'CPU_LIMIT' } });
    expect(host.data()).toEqual(['before']);
    for (const other of await others) {
      expect(other.outcome.ok).toBe(true);
      expect(other.host.data()).toEqual(['fine']);
    }
    const again = await sandbox.run(withRun(`this.$emit('again')`), { tenantId: 'o_same' });
    expect(again.host.data()).toEqual(['again']);
  },
);

test('nothing of the process around the isolate can be reached', async () => {
  const { outcome, host } = await sandbox.run(
    withRun(`
      const own = (o) => o === null || (typeof o !== 'object' && typeof o !== 'function') ? [] : Reflect.ownKeys(o);
      const seen = new Set(); const names = []; const found = [];
      const walk = (value, path) => {
        if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value) || seen.size > 20000) return;
        seen.add(value);
        if (typeof value.applySyncPromise === 'function' || typeof value.derefInto === 'function' || typeof value.createContextSync === 'function') found.push(path);
        for (const key of own(value)) {
          let next; try { next = value[key] } catch { continue }
          walk(next, path + '.' + String(key));
        }
        walk(Object.getPrototypeOf(value), path + '.__proto__');
      };
      walk(globalThis, 'globalThis'); walk(this, 'this');
      let escaped = 'no';
      try { escaped = typeof (function () {}).constructor('return this')().process.dlopen } catch (e) { escaped = e.name }
      this.$emit({ found, seen: seen.size > 500, escaped, env: Object.keys(process.env),
        gone: [typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics, typeof __headwaterBoot, typeof global.ivm] })`),
  );
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([
    {
      found: [],
      seen: true,
      escaped: expect.stringMatching(/undefined|EvalError|TypeError/),
      env: [],
      gone: Array(5).fill('undefined'),
    },
  ]);
});

test('a stack trace hands out no function and no receiver of the platform', async () => {
  const { host } = await sandbox.run(
    withRun(`
      const seen = [];
      Error.prepareStackTrace = (error, sites) => {
        for (const site of sites) {
          const own = site.getFileName() === 'hw:component';
          for (const value of [site.getFunction(), site.getThis()]) {
            if (!own && value !== undefined) seen.push(String(site.getFunctionName()) + ':' + typeof value);
          }
        }
        return '';
      };
      const look = () => { new Error('look').stack; return 1 };
      this.$emit({ toJSON: look });
      this.db.set('k', { toJSON: look });
      await Promise.resolve().then(look);
      await new Promise((resolve) => setTimeout(() => resolve(look()), 1));
      try { look.caller } catch (e) { seen.push(...(e.name === 'TypeError' ? [] : ['caller'])) }
      this.$emit(seen);`),
    { props: { db: { kind: 'db' } } },
  );
  expect(host.data()).toEqual([1, []]);
});

test('a toJSON on every object does not reach what the platform says about a run', async () => {
  const component = await bundle(
    withRun(`
      Object.prototype.toJSON = Array.prototype.toJSON = function () { return 'forged' };
      this.http.respond({ status: 201, headers: { a: 'b' } });
      await fetch('http://a.example/').catch(() => {});
      this.$emit('text', { id: 5, summary: 's' });
      throw new Error('as it is');`),
  );
  const { outcome, host } = await sandbox.run(component, { props: { http: { kind: 'http', endpoint: 'e' } } });
  expect(outcome).toMatchObject({ ok: false, fault: { code: 'COMPONENT_ERROR', message: 'as it is' } });
  expect(host.events).toMatchObject([{ data: '"text"', id: 5, summary: 's' }]);
  expect(host.responses).toMatchObject([{ status: 201, headers: { a: 'b' } }]);
  expect(host.requests).toHaveLength(1);
});

// The work of these is done by the process around the isolate, which has to count it.
const borrowed: [title: string, body: string][] = [
  ['random numbers', `for (;;) crypto.randomUUID()`],
  ['hashes', `const data = new Uint8Array(1e6); for (;;) await crypto.subtle.digest('SHA-512', data)`],
  ['timers', `for (let i = 0; i < 900; i++) setInterval(() => {}, 1); await new Promise(() => {})`],
];
test.each(borrowed)('a loop of %s ends at the CPU limit', async (_title, body) => {
  const { outcome } = await sandbox.run(withRun(body), { cpuMs: 300, wallMs: 15_000 });
  expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'CPU_LIMIT' } });
});

test('reads of the store are bounded', async () => {
  const { outcome, host } = await sandbox.run(
    withRun(`for (let i = 0; ; i++) { try { this.db.get('x') } catch (e) { this.$emit([i, e.message]); return } }`),
    {
      props: { db: { kind: 'db' } },
      wallMs: 25_000,
      cpuMs: 20_000,
    },
  );
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([[10_000, 'A run may read the store at most 10000 times']]);
});

test('patched intrinsics cannot listen in on the bridge or break another run', async () => {
  const component = await bundle(
    withRun(
      `if (event.patch) {
         const spy = (target, name) => { const was = target[name]; target[name] = function (...args) { caught.push(args.length); return was.apply(this, args) } };
         JSON.stringify = () => '"forged"'; JSON.parse = () => ({ forged: true });
         Promise.prototype.then = () => { throw new Error('patched') }; Promise.resolve = () => 1;
         Date.now = () => NaN; Reflect.apply = () => { throw new Error('patched') };
         spy(Function.prototype, 'call'); spy(Map.prototype, 'set');
       }
       this.db.set('k', { real: true });
       this.$emit({ event, stored: this.db.get('k'), read: this.db.get('other') });`,
      'const caught = [];',
    ),
  );
  const isolateKey = freshKey();
  const props = { db: { kind: 'db' } } as const;
  const stored = { other: 5 };
  await sandbox.run(component, { isolateKey, props, event: { patch: true }, host: recordingHost({ stored }) });
  const { outcome, host } = await sandbox.run(component, {
    isolateKey,
    props,
    event: { n: 2 },
    host: recordingHost({ stored }),
  });
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([{ event: { n: 2 }, stored: { real: true }, read: 5 }]);
  expect(host.events[0]!.emittedAtMs).toBeGreaterThan(0);
});

test('errors that cross the seam carry no path of the host', async () => {
  const { host } = await sandbox.run(
    withRun(`
      const texts = [];
      const collect = async (act) => { try { await act() } catch (e) { texts.push(String(e.message), String(e.stack)) } };
      await collect(() => crypto.getRandomValues(new Uint8Array(1e6)));
      await collect(() => fetch('http://a.example/'));
      await collect(() => this.db.get('x'));
      await collect(() => new TextDecoder('utf-32'));
      await collect(() => crypto.subtle.digest('MD4', new Uint8Array(1)));
      const { createHash } = __headwaterBuiltin('crypto');
      await collect(() => createHash('nope').update('x').digest());
      this.$emit(texts.join('\\n'));`),
    {
      host: { ...recordingHost(), dbGet: () => Promise.reject(new Error('/srv/secret/db.ts')) },
      props: { db: { kind: 'db' } },
    },
  );
  // The events went to the host that was spread: its closure keeps them.
  expect(host.events).toHaveLength(1);
  expect(host.events[0]!.data).not.toMatch(/file:|node_modules|\/srv\/|sandbox-runtime|process-main/);
  expect(host.events[0]!.data).toContain('Digest method not supported');
});

test('a flood of calls to the platform is stopped while the process keeps answering', async () => {
  const flood = sandbox.run(withRun(`for (;;) clearTimeout(setTimeout(() => {}, 1000))`), {
    tenantId: 'o_flood',
    cpuMs: 1_000,
  });
  const other = sandbox.run(withRun(`await new Promise((r) => setTimeout(r, 300)); this.$emit('fine')`), {
    tenantId: 'o_flood',
  });
  expect((await flood).outcome).toMatchObject({
    ok: false,
    fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining('Too many calls') },
  });
  expect((await other).host.data()).toEqual(['fine']);
});

test('a thrown value that cannot be read is still an outcome', async () => {
  const thrown = [
    `new Proxy({}, { get() { throw new Error('no') } })`,
    `Object.create(null)`,
    `undefined`,
    `Symbol('s')`,
    `{ message: { toString() { throw 1 } } }`,
    `'text'`,
  ];
  for (const value of thrown) {
    const { outcome } = await sandbox.run(withRun(`throw ${value}`));
    expect(outcome).toMatchObject({
      ok: false,
      innocent: false,
      fault: { code: 'COMPONENT_ERROR', message: expect.stringMatching(/./) },
    });
  }
});

test('an error message of a megabyte arrives cut', async () => {
  const { outcome } = await sandbox.run(withRun(`throw new Error('x'.repeat(1000000))`));
  expect(outcome.ok ? '' : outcome.fault.message.length).toBeLessThan(5_000);
});

test('a large answer of a request does not disturb the others', async () => {
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, 'ö'.repeat(6_000_000))) });
  const { outcome } = await sandbox.run(
    withRun(`const text = await (await fetch('http://a.example/')).text(); this.$emit([text.length, text[5999999]])`),
    { host },
  );
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([[6_000_000, 'ö']]);
});
