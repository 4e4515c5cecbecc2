import { describe, expect, it } from 'vitest';
import { childProcesses } from '../../support/child-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { emitsOf } from '../../support/hostile-guest.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { type RunOptions, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';
import { runStep, withStep } from '../../support/step-kit.ts';

// bridge: The checks of events, answers, requests, keys and log lines in the isolate, patched so
// that malformed ones leave it.
describe('patched-checks-of-a-run', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  const PROPS: NonNullable<RunOptions['props']> = {
    db: { kind: 'db' },
    http: { kind: 'http', endpoint: 'http://hw.test/' },
    store: { kind: 'data-store', id: 'ds_own' },
  };
  const ATTACKS = {
    'an id that is no number': `Number.isFinite = () => true; this.$emit('x', { id: NaN });`,
    'a part of a millisecond': `Math.trunc = () => 1.5; this.$emit('x', { ts: 1 });`,
    'a time after the last': `Math.abs = () => 0; this.$emit('x', { ts: 1e300 });`,
    'a summary without end': `String.prototype.slice = () => 'x'.repeat(100000); this.$emit('x', { summary: 'y'.repeat(5000) });`,
    'a status that is none': `Number.isInteger = () => true; this.http.respond({ status: 200.5 });`,
    'a header that breaks its line': `RegExp.prototype.test = function () { return this.source[0] === '^'; }; this.http.respond({ status: 200, headers: { a: 'b\\r\\nc: d' } });`,
    'a request with a smuggled header': `RegExp.prototype.test = function () { return this.source[0] === '^'; }; await fetch('http://hw.test/', { headers: { a: 'b\\r\\nc: d' } });`,
    'a URL that is a number': `String.prototype.replace = () => 5; await fetch('http://hw.test/');`,
    'a time to live that is no number': `Number.isInteger = () => true; await this.store.set('k', 1, { ttl: NaN });`,
    'a key to read of more bytes': `String.prototype.charCodeAt = () => 0; this.db.get('€'.repeat(1000));`,
    'a log line of more bytes': `String.prototype.charCodeAt = () => 0; console.log('€'.repeat(16000));`,
  };

  it.skipIf(process.platform !== 'linux')(
    'each ends its run alone, and another run of the account ends well in the same process',
    async () => {
      await sandbox.run(withRun(''));
      const before = childProcesses().map(({ pid }) => pid);
      expect(before).toHaveLength(1);
      await world.unharmed(async () => {
        const begun = Promise.withResolvers<void>();
        const over = Promise.withResolvers<string>();
        const waiting = recordingHost();
        waiting.dbGet = () => {
          begun.resolve();
          return over.promise;
        };
        const innocent = sandbox.run(withRun(`this.$emit(this.db.get('word'));`), {
          props: PROPS,
          host: waiting,
          wallMs: 60_000,
        });
        await Promise.race([begun.promise, innocent]);
        for (const [name, code] of Object.entries(ATTACKS)) {
          const { outcome } = await sandbox.run(withRun(code), { props: PROPS });
          expect([name, outcome]).toMatchObject([
            name,
            { ok: false, innocent: false, fault: { code: 'COMPONENT_ERROR' } },
          ]);
          expect(outcome).toMatchObject({
            fault: { message: expect.stringContaining('The output of the run is refused') },
          });
        }
        over.resolve('"innocent"');
        expect((await innocent).outcome).toMatchObject({ ok: true });
        expect(waiting.data()).toEqual(['innocent']);
      });
      expect(childProcesses().map(({ pid }) => pid)).toEqual(before);
      expect(sandbox.get().stats().crashes).toBe(0);
    },
  );
});

// isolate: The built-ins under the checks of `$`, patched so that reserved names and times without
// end would leave the isolate.
describe('patched-checks-of-a-step', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  const ATTEMPTS = `
Number.isInteger = () => true; Number.isFinite = () => true; Math.ceil = () => 1.5; Array.isArray = () => false;
Array.prototype.includes = () => false; RegExp.prototype.test = () => true; Object.hasOwn = () => true;
String.prototype.slice = () => 'x'.repeat(100000); String.prototype.trim = () => 'x'; URL.canParse = () => true;
const attempt = (act) => { try { act(); return 'taken'; } catch (error) { return error.name; } };
return [
  attempt(() => $.export('__proto__', { polluted: true })), attempt(() => $.export('$return_value', 1)),
  attempt(() => $.flow.rerun(1, 1, 1.5)), attempt(() => $.flow.delay(Infinity)), attempt(() => $.flow.delay(0.2)),
  attempt(() => $.flow.exit('y'.repeat(100000))), attempt(() => $.send.http({ url: 'nothing' })),
];`;

  it('messages that the host would refuse stay in the isolate, and the process lives on', async () => {
    await world.unharmed(async () => {
      const ran = await runStep(sandbox.run, withStep(ATTEMPTS), { isolateKey: 'p_checks.c_a:1' });
      expect(ran.outcome).toMatchObject({ ok: true });
      expect(ran.returned).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError', 'taken', 'taken', 'taken']);
      expect(ran.record.exports).toEqual([]);
      expect(ran.record.flows).toMatchObject([{ kind: 'exit' }]);
      expect(sandbox.get().stats().crashes).toBe(0);
    });
  });
});

// bridge: Objects where text or bytes cross, put there by patched built-ins: half a gigabyte of
// texts, and a nest that doubles with each level.
describe('objects-across', () => {
  const world = hostile();

  it.each([
    ['many long texts', `Array(5000).fill('x'.repeat(1e5))`],
    [
      'a nest',
      `(() => { let nest = ['x']; for (let n = 0; n < 26; n++) nest = [nest, nest]; return Array(5000).fill(nest); })()`,
    ],
  ])('%s are looked at before they are copied', async (_what, made) => {
    const emitted = await emitsOf(
      world,
      `const given = ${made};
String.prototype.toWellFormed = () => given;
const encoded = new TextEncoder().encode('x');
this.$emit(encoded instanceof Uint8Array);`,
    );
    expect(emitted).toEqual([false]);
  });

  it('bytes where a number or a name stands are refused', async () => {
    const emitted = await emitsOf(
      world,
      `const data = new Uint8Array(20_000_000);
for (let i = 0; i < data.length; i++) data[i] = i;
const said = [];
for (const algorithm of [{ name: 'AES-CBC', length: data }, { name: 'HMAC', hash: 'SHA-256', length: data }, { name: data }])
  try { await crypto.subtle.generateKey(algorithm, true, ['encrypt']); said.push('made'); } catch (error) { said.push(error.message); }
this.$emit(said);`,
    );
    expect(emitted).toEqual([Array(3).fill('Unexpected bytes')]);
  });
});

// bridge: Patched conversions of a thrown error to text return objects, whose length says how much
// memory the process would send.
describe('texts-that-are-none', () => {
  const world = hostile();
  const LENGTH = 12_000;

  const PATCHES = [
    ['the function', 'globalThis.String = () => none;'],
    [
      'all that texts and lists have',
      `const texts = Object.getPrototypeOf('');
     for (const name of ['slice', 'split', 'startsWith', 'indexOf']) texts[name] = () => none;
     for (const name of ['filter', 'join', 'map']) Array.prototype[name] = () => none;`,
    ],
  ] as const;

  it.each(PATCHES)(
    '%s: the error is told as it was thrown, and nothing of the memory of the process',
    async (_, patch) => {
      const ran = await world.unharmed(() =>
        world.attack(`
      const none = { length: 0, byteLength: ${LENGTH} };
      ${patch}
      throw new Error('as it was');`),
      );
      expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'as it was' });
      expect(ran.error?.stack?.length ?? 0).toBeLessThan(LENGTH);
    },
  );
});

// bridge: A length of characters that is always none, so that the isolate counts three bytes as
// one: events, keys, values and results.
describe('bytes-counted-as-none', () => {
  const world = hostile();
  const PATCH = `Object.getPrototypeOf('').charCodeAt = () => 0;`;
  const LARGE = `'中'.repeat(400_000)`;

  it.each([
    [`this.$emit(${LARGE})`, 'maxEventBytes'],
    [`this.db.set('中'.repeat(1_000), 1)`, 'maxDbKeyBytes'],
    [`this.db.set('a', ${LARGE})`, 'maxDbValueBytes'],
  ])('%s ends at %s', async (body, name) => {
    await world.limit({ maxEventBytes: 1_000_000, maxDbValueBytes: 1_000_000 });
    const ran = await world.unharmed(() => world.attack(`${PATCH} ${body}`));
    expect(ran.error).toMatchObject({ limit: { name } });
    expect(ran.error?.limit?.used).toBeGreaterThan(ran.error?.limit?.value ?? 0);
    expect(ran.events).toEqual([]);
  });

  it.each([
    [`return ${LARGE};`, 'maxResultBytes'],
    [`$.export('a', ${LARGE});`, 'maxExportBytes'],
  ])('a step: %s ends at %s', async (body, name) => {
    await world.limit({ maxResultBytes: 1_000_000, maxExportBytes: 1_000_000 });
    const error = await world.unharmed(async () => {
      const flow = await makeWorkflow(world.attacker, { steps: [`${PATCH} ${body}`] });
      const started = await world.attacker.api('POST', `/workflows/${flow.id}/run`, {});
      return eventually(async () => {
        const { body: shown } = await world.attacker.api('GET', `/executions/${started.body.data.execution_id}`);
        return shown.data?.status === 'failed' && shown.data.error;
      });
    });
    expect(error).toMatchObject({ limit: { name } });
  });
});

// bridge: A component whose members answer something else each time they are read.
describe('component-that-changes', () => {
  const world = hostile();

  /** A component whose members return these values in turn, and then the last one again. */
  const changing = (run: string, methods: string, hooks: string) => `
const changing = (...values) => {
  let reads = 0;
  return { get: () => values[Math.min(reads++, values.length - 1)], enumerable: true, configurable: true };
};
const component = { name: 'Changes', version: '1', props: { db: '$.service.db' } };
Object.defineProperty(component, 'run', changing(${run}));
Object.defineProperty(component, 'methods', changing(${methods}));
Object.defineProperty(component, 'hooks', changing(${hooks}));
export default component;`;

  const RUN = `function () { this.$emit(typeof this.own); }`;

  it('is judged by the first values read, and runs as those', async () => {
    const code = changing(`${RUN}, 'text', null`, '{ own() {} }, null, 5', `{ deploy() {} }, { deploy: 5 }, 'x'`);
    const ran = await world.unharmed(() => world.attack(code));
    expect(ran).toMatchObject({ events: ['function'] });
    expect([ran.refused, ran.error]).toEqual([undefined, undefined]);
  });

  it.each([
    ['run', changing(`'text', ${RUN}`, '{}', '{}'), 'run must be a method, not a string'],
    ['hooks', changing(RUN, '{}', `'x', {}`), 'hooks must be an object of methods'],
    ['hooks.deploy', changing(RUN, '{}', '{ deploy: 5 }, { deploy() {} }'), 'must be a method'],
  ])('is refused for %s that was none when it was read first', async (path, code, message) => {
    const { refused } = await world.unharmed(() => world.attack(code));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-component', errors: [{ path, message }] });
  });
});
