import { describe, expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

// bridge: Errors of the node itself, while it answers a component: a message with a path, and a
// value that is no error.
describe('errors-of-the-host', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  it('say nothing of the node', async () => {
    await world.unharmed(async () => {
      const failures = [new Error('/srv/secret/db.ts'), '/srv/secret', null, { stack: '/srv/secret' }];
      for (const failure of failures) {
        const reject = (): Promise<never> => Promise.reject(failure as Error);
        const host = { ...recordingHost(), dbGet: reject, fetch: reject };
        await sandbox.run(
          withRun(`
        const texts = [];
        const collect = async (act) => { try { await act() } catch (error) { texts.push(error.message, error.stack) } };
        await collect(() => this.db.get('x'));
        await collect(() => fetch('http://a.example/'));
        this.$emit(texts.join('\\n'));`),
          { host, props: { db: { kind: 'db' } } },
        );
        // The events went to the host that was spread: its closure keeps them.
        expect(host.events).toHaveLength(1);
        expect(host.events[0]?.data).not.toMatch(/srv|secret|file:|node_modules/);
      }
    });
    const other = await sandbox.run(withRun(`this.$emit('fine')`), { tenantId: 'o_other' });
    expect(other.host.data()).toEqual(['fine']);
  });
});

// bridge: An error whose message is 20 megabytes, of lines that look like frames.
describe('giant-error-message', () => {
  const world = hostile();

  it('arrives cut', async () => {
    const ran = await world.unharmed(() =>
      world.attack(`throw new Error('\\n    at x (hw:component:1:1)'.repeat(720_000));`),
    );
    expect(ran.error?.code).toBe('COMPONENT_ERROR');
    expect(ran.error?.message.length).toBeLessThan(5_000);
    expect(ran.error?.stack?.length ?? 0).toBeLessThan(10_000);
  });
});

// bridge: Stacks that name files of the host, and directives in code that name source maps
// elsewhere.
describe('invented-frames', () => {
  const world = hostile();

  it("no file is read, and frames are the author's own or none", async () => {
    const ran = await world.unharmed(() =>
      world.attack(`
const error = new Error('invented');
error.stack = ['invented', '    at a (/etc/passwd:1:1)', '    at b (hw:component:999999:1)', '    at c (hw:component:1:99999999)',
  '    at d (file:///etc/passwd:1:1)', '    at e (node:internal/process:1:1)', '    at f (hw:guest:1:1)'].join('\\n');
try { new Function('throw 1 //# sourceMappingURL=file:///etc/passwd')(); } catch {}
throw error;
//# sourceMappingURL=file:///etc/passwd`),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'invented' });
    expect(ran.error?.stack ?? '').not.toMatch(/passwd|node:|hw:/);
  });
});

// bridge: Error.stackTraceLimit without bound at the bottom of a deep recursion, and stacks that
// are no text.
describe('stack-trace-limit', () => {
  const world = hostile();

  it('the error arrives with a stack that is cut', async () => {
    const deep = await world.unharmed(() =>
      world.attack(`
Error.stackTraceLimit = Infinity;
const down = (left) => { if (left === 0) throw new Error('bottom'); down(left - 1); };
down(5000);`),
    );
    expect(deep.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'bottom' });
    expect(deep.error?.stack?.length).toBeLessThan(10_000);
    const odd = await world.unharmed(() =>
      world.attack(`Error.prepareStackTrace = () => ({ not: 'text' }); throw new Error('odd');`),
    );
    expect(odd.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'odd' });
  });
});

// isolate: The built-ins that the mapping of stacks uses, patched, and forged call sites.
describe('stacks-mapped-in-an-isolate', () => {
  const world = hostile();

  /**
   * Each is done before the stack of an error is read, which asks for the source map and looks
   * through it.
   */
  it.each([
    `Object.defineProperty(Object.prototype, 'sources', { get() { return ['/etc/passwd']; }, set() {} });`,
    `Object.defineProperty(Array.prototype, 0, { get() { throw 1; }, set() { throw 1; } });`,
    `Int32Array.prototype.set = () => { throw 1; }; Int8Array.from = null;`,
    `const { prepareStackTrace: map } = Error; for (const sites of [null, 1, [null], [{ toString: () => 'hw:component:9:9' }],
     ['hw:component:' + '9'.repeat(1e6) + ':1'], ['hw:component:1:1'.repeat(1e5)], new Array(1e5).fill('hw:component:1:9')])
     try { map({}, sites); } catch {}`,
    `Error.prepareStackTrace = (error, sites) => { Object.getPrototypeOf(sites[0]).toString = () => { throw 1; }; return ''; };
     new Error('x').stack; delete Error.prepareStackTrace;`,
  ])('%s ends the run as a component error without a path of the host', async (attack) => {
    const ran = await world.unharmed(() =>
      world.attack(`const wanted = new Error('wanted'); try { ${attack}\nvoid wanted.stack; } catch {}\nthrow wanted;`),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
    expect(`${ran.error?.message} ${ran.error?.stack ?? ''}`).not.toContain('/etc/passwd:');
    expect(JSON.stringify(ran).length).toBeLessThan(50_000);
  });
});

// bridge: Stacks and messages of every kind of error that the platform makes, errors of the
// process around the isolate among them.
describe('stacks-of-the-platform', () => {
  const world = hostile();

  it('none has a path, a module of Node or the name of the library in it', async () => {
    const emitted = await emitsOf(
      world,
      `const texts = [];
const collect = async (act) => { try { await act(); texts.push('no error: ' + act); } catch (error) { texts.push([error.name, error.message, error.stack, String(error.cause?.stack)].join('\\n')); } };
Error.stackTraceLimit = 100;
const { createHash, createCipheriv, createPrivateKey, sign, scryptSync } = process.getBuiltinModule('crypto');
const { gunzipSync, brotliDecompressSync } = process.getBuiltinModule('zlib');
const fs = process.getBuiltinModule('fs');
await collect(() => crypto.getRandomValues(new Uint8Array(1e6)));
await collect(() => fetch('http://127.0.0.1:1/'));
await collect(() => fetch('file:///etc/passwd'));
await collect(() => this.db.get({}));
await collect(() => this.db.get('x'.repeat(5000)));
await collect(() => new TextDecoder('utf-32'));
await collect(() => new URL('http://'));
await collect(() => crypto.subtle.digest('MD4', new Uint8Array(1)));
await collect(() => crypto.subtle.importKey('pkcs8', new Uint8Array(9), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']));
await collect(() => createHash('nope'));
await collect(() => createHash({}));
await collect(() => createCipheriv('aes-256-gcm', 'short', 'iv'));
await collect(() => createPrivateKey('-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----'));
await collect(() => sign('nope', 'x', 'no key'));
await collect(() => scryptSync('a', 'b', 64, { N: 2 ** 30, r: 8, p: 1 }));
await collect(() => gunzipSync('no gzip'));
await collect(() => brotliDecompressSync('no brotli'));
await collect(() => fs.readFileSync('/etc/passwd'));
await collect(() => fs.readFileSync('/proc/self/environ'));
await collect(() => process.exit(1));
await collect(() => process.getBuiltinModule('child_process').execSync('id'));
await collect(() => new Function("return import('node:fs')")());
await collect(() => new ArrayBuffer(1e12));
await collect(() => this.$emit({}, 1));
const leaks = texts.filter((text) => /file:\\/|node:internal|node_modules|isolated-vm|sandbox-runtime|process-main|\\/work|\\/root|\\/home|\\/usr|no error/.test(text));
this.$emit([texts.length, leaks]);`,
    );
    expect(emitted).toEqual([[24, []]]);
  });
});

// bridge: Thrown values that cannot be read, have no text, or answer something else each time.
describe('unreadable-errors', () => {
  const world = hostile();

  const THROWN = [
    'null',
    'undefined',
    `Symbol('s')`,
    '123n',
    '() => {}',
    'Object.create(null)',
    `new Proxy({}, { get() { throw new Error('no'); } })`,
    `new Proxy(new Error('x'), { getPrototypeOf() { throw 1; }, get() { throw 2; } })`,
    '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
    '{ message: { toString() { throw 1; } } }',
    `{ message: 'm', name: { toString() { throw 1; } }, stack: 5 }`,
    `Object.assign(new Error('m'), { stack: { toString: () => '    at evil (hw:component:1:1)' } })`,
    `Object.defineProperty(new Error('m'), 'message', { get: () => Symbol('not text') })`,
    `(() => { const error = new Error('cycle'); error.cause = error; error.errors = [error]; return error; })()`,
    `new AggregateError([null, undefined], 'many')`,
  ];

  interface Run {
    id: string;
    error: { code: string; message: string } | null;
  }

  it('every one of them is an error with a text, at once and after an await', async () => {
    const { attacker } = world;
    const runs = await world.unharmed(async () => {
      const { id } = await attacker.deploy(
        `export default { name: 'Throws', version: '1', async run({ code, late }) {
        if (late) await null;
        throw new Function('return ' + code)();
      } };`,
      );
      const orders = THROWN.flatMap((code) => [{ code }, { code, late: true }]);
      await Promise.all(orders.map((event) => attacker.api('POST', `/sources/${id}/run`, { event })));
      await world.untilIdle();
      const { body } = await attacker.api('GET', `/sources/${id}/runs?limit=100`);
      return body.data as Run[];
    });
    expect(runs).toHaveLength(2 * THROWN.length);
    for (const { error } of runs)
      expect(error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringMatching(/./) as string });
  });
});

// bridge: Thrown values that cannot be read or copied, at the top level of a component.
describe('unreadable-errors-while-loading', () => {
  const world = hostile();

  const THROWN = [
    'null',
    `Symbol('s')`,
    `new Proxy({}, { get() { throw new Error('no'); } })`,
    `Object.defineProperty(new Error('m'), 'stack', { get() { throw new Error('no'); } })`,
    `Object.defineProperty(new Error('m'), 'message', { get: () => 'x'.repeat(20e6) })`,
  ];

  it('the component is refused with a text of ours', async () => {
    const refusals = await world.unharmed(async () => {
      const all = THROWN.map((value) => world.attack(`throw ${value};\nexport default {};`));
      return (await Promise.all(all)).map(({ refused }) => refused);
    });
    for (const refused of refusals) {
      expect(refused).toMatchObject({ status: 400, detail: expect.stringMatching(/failed to load: ./) as string });
      expect(refused?.detail).not.toContain('isolated-vm');
      expect(refused?.detail.length).toBeLessThan(5_000);
    }
  });
});
