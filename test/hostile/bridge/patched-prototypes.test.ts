import { describe, expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';
import { freshKey, sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep } from '../../support/step-kit.ts';

// bridge: Setters and getters on Object.prototype, for every name that the platform uses in its
// own objects.
describe('accessors-on-object-prototype', () => {
  const world = hostile();

  it('they neither see nor change outgoing values', async () => {
    const emitted = await emitsOf(
      world,
      `const names = ['id', 'name', 'summary', 'ts', 'message', 'stack', 'limit', 'code', 'run', 'over', 'bytes', 'status', 'headers', 'url', 'method', 'kind', 'cause'];
const seen = [];
for (const name of names) Object.defineProperty(Object.prototype, name, { configurable: true, get() { return undefined; }, set(value) { seen.push(name); Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true }); } });
this.$emit('text', { __proto__: null, id: 'i', summary: 's' });
this.db.set('key', 'value');
const value = this.db.get('key');
for (const name of names) delete Object.prototype[name];
this.$emit(value);`,
    );
    expect(emitted).toEqual(['text', 'value']);
  });
});

// bridge: Array, String and RegExp prototypes that throw or lie, while events, values and requests
// leave.
describe('patched-collections', () => {
  const world = hostile();

  it('events sent before the patch arrive whole, and the rest fails this run alone', async () => {
    await world.limit({ timerRunWallMs: 1_000 });
    const ran = await world.unharmed(() =>
      world.attack(`
const names = { Array: ['push', 'map', 'filter', 'join', 'some', 'includes', Symbol.iterator], RegExp: ['test', 'exec'], String: ['startsWith', 'split', 'replace', 'charCodeAt'] };
this.$emit({ list: [1, 2] }, { id: 'a', summary: 's' });
for (const kind of Object.keys(names)) for (let i = 0; i < names[kind].length; i++) globalThis[kind].prototype[names[kind][i]] = () => { throw new Error('patched'); };
try { this.$emit({ list: [3] }); } catch {}
try { await fetch('http://127.0.0.1:1/'); } catch {}
try { console.log('x', [1]); } catch {}
null.x;`),
    );
    expect(ran.events).toEqual([{ list: [1, 2] }]);
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  });
});

// bridge: Patched intrinsics of JSON, Promise, Reflect, Function and Date, left behind for the
// next run.
describe('patched-intrinsics', () => {
  const world = hostile();

  const CODE = `
export default { name: 'Patches', version: '1', props: { db: '$.service.db' }, async run({ patch, n }) {
  if (patch) {
    JSON.stringify = () => '"forged"'; JSON.parse = () => ({ forged: true });
    Promise.prototype.then = () => { throw new Error('patched') }; Promise.resolve = () => 1;
    Date.now = () => NaN; Reflect.apply = () => { throw new Error('patched') };
    Function.prototype.call = Function.prototype.apply = () => { throw new Error('patched') };
  }
  this.db.set('key', { real: true });
  this.$emit({ n, stored: this.db.get('key'), other: this.db.get('none') ?? null });
} };`;

  it('neither run reads or says anything else', async () => {
    const ran = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(CODE);
      await world.run(id, { patch: true, n: 1 });
      return world.run(id, { n: 2 });
    });
    const stored = { real: true };
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual([
      { n: 1, stored, other: null },
      { n: 2, stored, other: null },
    ]);
  });
});

// bridge: Map.prototype and WeakMap.prototype patched to catch what the platform keeps of runs,
// timers and calls.
describe('patched-maps', () => {
  const world = hostile();

  it('nothing of it passes by', async () => {
    const emitted = await emitsOf(
      world,
      `const caught = [];
for (const kind of [Map, Set, WeakMap, WeakSet]) for (const name of ['get', 'set', 'has', 'add', 'delete', 'clear', 'values', 'forEach', Symbol.iterator]) {
  const was = kind.prototype[name];
  if (was === undefined) continue;
  kind.prototype[name] = function (...args) {
    if (args.some((arg) => typeof arg === 'object' && arg !== null && ('run' in arg || 'context' in arg))) caught.push(String(name));
    return Reflect.apply(was, this, args);
  };
}
process.getBuiltinModule('fs').writeFileSync('/tmp/a', 'a');
this.$emit('first');
this.db.set('key', 1);
await new Promise((resolve) => setTimeout(resolve, 1));
await fetch('http://127.0.0.1:1/').catch(() => {});
await crypto.subtle.digest('SHA-256', new Uint8Array(1));
console.log('x');
this.$emit(caught);`,
    );
    expect(emitted).toEqual(['first', []]);
  });
});

// bridge: A setter for the first item on Array.prototype, to be handed errors, contexts and
// requests of other runs that lists hold.
describe('setters-on-array-prototype', () => {
  const world = hostile();

  it('nothing of another run passes by', async () => {
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
const caught = new Map();
const isOfRun = (value) => value instanceof Error || typeof value === 'function' || (typeof value === 'object' && value !== null && ('run' in value || 'context' in value));
Object.defineProperty(Array.prototype, '0', { configurable: true, set(value) {
  if (isOfRun(value) || isOfRun(value?.value)) caught.set(caught.size, Object.keys(value).join());
  Object.defineProperty(this, '0', { value, writable: true, enumerable: true, configurable: true });
} });
export default { name: 'Setter', version: '1', async run() {
  await Promise.allSettled(Array.from({ length: 33 }, () => fetch('http://127.0.0.1:1/')));
  this.$emit([typeof new Error('of a run').stack, [...caught.values()]]);
} };`);
      return [await world.run(id), await world.run(id)];
    });
    expect(runs.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(runs[1]?.events).toEqual([
      ['string', []],
      ['string', []],
    ]);
  });
});

// bridge: Promise.prototype.constructor with a species of its own, so that an await gets the
// attacker's promise.
describe('promise-species', () => {
  const world = hostile();

  it('the run ends, and so does the next one in its isolate', async () => {
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
export default { name: 'Species', version: '1', async run() {
  const caught = [];
  const Species = function (executor) { executor((value) => caught.push(typeof value), () => {}); };
  Object.defineProperty(Promise, Symbol.species, { configurable: true, get: () => Species });
  await null;
  this.$emit(caught);
} };`);
      return [await world.run(id), await world.run(id)];
    });
    expect(runs.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(runs[1]?.events).toEqual([[], []]);
  });
});

// bridge: A toJSON on Object.prototype and Array.prototype, which JSON.stringify would ask for
// what the platform says.
describe('to-json-on-every-object', () => {
  const world = hostile();

  it('the metadata of a run keeps its values', async () => {
    const emitted = await emitsOf(
      world,
      `Object.prototype.toJSON = Array.prototype.toJSON = function () { return 'forged'; };
await fetch('http://127.0.0.1:1/', { headers: { a: 'b' } }).catch(() => {});
this.$emit('text', { id: 5, summary: 's' });
this.db.set('key', 'value');
this.$emit(this.db.get('key'));`,
    );
    expect(emitted).toEqual(['text', 'value']);
  });
});

// isolate: Everything that expressions are read and worked out with, patched while the component
// loads, to see what passes.
describe('patched-prototypes-under-templates', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  /** Patches the named functions, records their arguments, and then calls the originals. */
  const WATCHES = `
const seen = [], keys = Object.keys, apply = Reflect.apply, construct = Reflect.construct;
let busy = false, count = 0;
const note = (value, depth) => {
  if (typeof value === 'string') seen[count++] = value;
  else if (value !== null && typeof value === 'object' && depth > 0) {
    const names = keys(value);
    for (let i = 0; i < names.length; i++) { seen[count++] = names[i]; note(value[names[i]], depth - 1); }
  }
};
const watch = (values) => {
  if (busy) return;
  busy = true;
  for (let i = 0; i < values.length; i++) note(values[i], 2);
  busy = false;
};
for (const [owner, names] of [
  [String.prototype, ['slice', 'indexOf', 'includes', 'startsWith', 'trim', 'repeat', 'replace', 'split', 'match']],
  [Array.prototype, ['push', 'pop', 'map', 'join', 'flatMap', 'at', Symbol.iterator]],
  [RegExp.prototype, ['exec', 'test', Symbol.match, Symbol.replace]],
  [Map.prototype, ['get', 'set', 'has']], [Object, ['keys', 'entries', 'fromEntries', 'defineProperty', 'hasOwn', 'values']],
  [JSON, ['parse', 'stringify']], [Reflect, ['apply', 'get', 'ownKeys']], [globalThis, ['Function', 'Number', 'String']],
  [Function.prototype, ['call', 'apply', 'bind']],
]) for (const name of names) {
  const real = owner[name];
  const patched = function (...args) { watch([this, args]); return new.target ? construct(real, args) : apply(real, this, args); };
  patched.prototype = real.prototype;
  owner[name] = patched;
}
export default { name: 'a', version: '1', type: 'action', props: { text: 'string', data: 'object' },
  run({ steps }) { return { text: this.text, data: this.data, n: steps.a.n, seen: seen.join('\\n') }; } };`;

  it('the results stay the same, and nothing passes that the step was not given', async () => {
    await world.unharmed(async () => {
      const isolateKey = freshKey();
      for (const n of [1, 2]) {
        const ran = await runStep(sandbox.run, WATCHES, {
          isolateKey,
          steps: { a: { n } },
          env: { OWN: `own-${n}` },
          props: {
            text: { kind: 'template', value: 'n={{steps.a.n + 0}} {{env.OWN}}' },
            data: { kind: 'template', value: { list: ['{{steps.a.n}}'] } },
          },
        });
        expect(ran.outcome).toMatchObject({ ok: true });
        expect(ran.returned).toMatchObject({ text: `n=${n} own-${n}`, data: { list: [n] }, n });
        const { seen } = ran.returned as { seen: string };
        expect(seen).not.toMatch(/hw:|__headwater|\bpost\b|\bbridge\b|resume|cancel/);
      }
    });
  });

  it('forged results reach no further than the step itself', async () => {
    const breaks = [
      `String.prototype.indexOf = () => -1`,
      `String.prototype.slice = () => 'forged'`,
      `Array.prototype.push = () => { throw new Error('patched') }`,
      `RegExp.prototype.exec = () => ({ 0: '', groups: { name: '__proto__' } })`,
      `Object.entries = () => { throw new Error('patched') }`,
      `Object.fromEntries = () => globalThis`,
      `Object.prototype.expression = 'globalThis'`,
      `Object.prototype.toJSON = () => ({ forged: true })`,
      `Object.defineProperty(Object.prototype, 'kind', { get: () => 'db' })`,
      `Object.defineProperty(Object.prototype, 'flow', { get: () => ({ kind: 'exit' }) })`,
      `Array.prototype[Symbol.iterator] = function* () { yield 1 }`,
    ];
    await world.unharmed(async () => {
      for (const code of breaks) {
        const ran = await runStep(
          sandbox.run,
          `${code};\nexport default { name: 'a', version: '1', type: 'action', run({ $ }) { $.export('text', this.text); $.flow.delay(5); return 1; } };`,
          { cpuMs: 300, steps: { a: { n: 1 } }, props: { text: { kind: 'template', value: 'n={{steps.a.n}}' } } },
        );
        // The run may fail, or change its own result. The process continues, and other runs are not
        // affected.
        expect([code, ran.outcome]).not.toMatchObject([code, { fault: { code: 'SANDBOX_CRASHED' } }]);
        const honest = await runStep(
          sandbox.run,
          `export default { name: 'a', version: '1', type: 'action', run() { return this.text; } };`,
          {
            steps: { a: { n: 1 } },
            props: { text: { kind: 'template', value: 'n={{steps.a.n}}' } },
          },
        );
        expect(honest.returned).toBe('n=1');
      }
    });
  });
});
