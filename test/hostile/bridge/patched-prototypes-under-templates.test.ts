// isolate: Everything that expressions are read and worked out with, patched while the component loads, to see what passes.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { freshKey, sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep } from '../../support/step-kit.ts';

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

it('what they come to is the same, and nothing passes that the step was not given', async () => {
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

it('what they answer instead reaches no further than the step itself', async () => {
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
