import { describe, expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { bundle, freshKey, sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep } from '../../support/step-kit.ts';

// isolate: A step looks everywhere for environment variables that its props do not name, and for
// values of earlier runs.
describe('environment-of-other-steps', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  const CODE = `
const texts = () => {
  const seen = new Set(), found = [];
  const look = (value, depth) => {
    if (typeof value === 'string') return found.push(value);
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value) || depth > 8) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      let inner; try { inner = value[key]; } catch { continue; }
      if (inner instanceof Promise) inner.catch(() => {});
      look(key, 9); look(inner, depth + 1);
    }
    look(Object.getPrototypeOf(value), depth + 1);
  };
  return { look, found };
};
export default { name: 'a', version: '1', type: 'action', props: { own: 'string' }, run(given) {
  const { look, found } = texts();
  for (const value of [globalThis, given, this, arguments, process.env, new Error().stack]) look(value, 0);
  return found.filter((text) => text.includes('env-value'));
} };`;

  it('a template finds the values of its own props in this run, and nothing else', async () => {
    await world.unharmed(async () => {
      const code = await bundle(CODE);
      const run = (value: string) =>
        runStep(sandbox.run, code, {
          isolateKey: 'p_env.c_a:1',
          env: { OWN: value },
          props: { own: { kind: 'template', value: '{{env.OWN}}' } },
        });
      expect((await run('env-value-1')).returned).toEqual(['env-value-1']);
      expect((await run('env-value-2')).returned).toEqual(['env-value-2']);
      const other = await runStep(sandbox.run, code, {
        namespace: 'asks',
        env: {},
        props: { own: { kind: 'template', value: '{{env.OWN}}' } },
      });
      expect(other.outcome).toMatchObject({
        fault: { code: 'CONFIGURATION_ERROR', message: expect.stringContaining('`env` has no `OWN`') },
      });
    });
  });
});

// isolate: The error about a name that an expression did not find, read with patched built-ins of
// another run of the code.
describe('missing-names-of-other-steps', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  const CODE = `
const seen = [];
const note = Array.prototype.push, apply = Reflect.apply;
for (const [owner, name] of [[Object, 'keys'], [Array.prototype, 'filter'], [Array.prototype, 'map'], [Array.prototype, 'join']]) {
  const real = owner[name];
  owner[name] = function (...given) { apply(note, seen, [this, ...given]); return apply(real, this, given); };
}
export default { name: 'a', version: '1', type: 'action', props: { text: 'string' }, run() { return seen; } };`;

  it('shows nothing of it to that code', async () => {
    await world.unharmed(async () => {
      const isolateKey = freshKey();
      const first = await runStep(sandbox.run, CODE, { isolateKey });
      expect(first.outcome).toMatchObject({ ok: true });
      const missing = await runStep(sandbox.run, CODE, {
        isolateKey,
        env: { TOKEN: 'of-another-step' },
        props: { text: { kind: 'template', value: '{{env.OTHER}}' } },
      });
      expect(missing.outcome).toMatchObject({
        ok: false,
        fault: { message: expect.stringContaining('it has `TOKEN`') },
      });
      const last = await runStep(sandbox.run, CODE, { isolateKey });
      expect(last.outcome).toMatchObject({ ok: true });
      expect(JSON.stringify(last.returned)).not.toContain('of-another-step');
    });
  });
});

// isolate: `steps`, `$` and the prototypes of both, changed in one run of a step to reach the next
// one in the same isolate.
describe('steps-changed-for-the-next-run', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  const CODE = `
let kept;
export default { name: 'a', version: '1', type: 'action', async run({ steps, $ }) {
  const { n } = steps.trigger.event;
  if (n === 1) {
    kept = { steps, $, self: this };
    steps.trigger.event.n = 99; steps.later = { n: 99 };
    Object.defineProperty(Object.prototype, 'trigger', { get: () => ({ event: { n: 98 } }), set() {}, configurable: true });
    Object.defineProperty(Object.prototype, 'value', { get: () => 97, configurable: true });
    $.context.deadline = 0; $.flow.exit = () => 'patched'; $.export = () => {};
    return 'first';
  }
  // Objects kept from an earlier run have no effect in this one.
  kept.$.send.emit('late'); kept.$.flow.suspend(5); kept.self.$emit('late');
  await kept.$.respond({ status: 500 });
  $.export('n', n);
  return { n, names: Object.keys(steps), prop: this.n, deadline: $.context.deadline, exit: typeof $.flow.exit('done') };
} };`;

  it('every run has its own, and a kept one of an ended run tells nothing', async () => {
    await world.unharmed(async () => {
      const [code, isolateKey] = [await bundle(CODE), freshKey()];
      const run = (n: number) =>
        runStep(sandbox.run, code, {
          isolateKey,
          steps: { trigger: { event: { n }, context: {} } },
          context: { deadline: 5, run: { runs: 1 } },
          props: { n: { kind: 'template', value: '{{steps.trigger.event.n}}' } },
        });
      expect((await run(1)).returned).toBe('first');
      const second = await run(2);
      expect(second.returned).toEqual({ n: 2, names: ['trigger'], prop: 2, deadline: 5, exit: 'object' });
      expect(second.record).toEqual({
        exports: [['n', 2]],
        sends: [],
        flows: [{ kind: 'exit', reason: 'done' }],
        responses: [],
        props: [[{ n: 2 }, []]],
      });
      expect(second.host.events).toEqual([]);
    });
  });
});

// bridge: A process that has been taken over asks for data stores which are none of the props of
// its run.
describe('stores-of-others', () => {
  const world = hostile();

  it('only the stores of its own props are asked', async () => {
    let asked: string[] = [];
    const host = recordingHost({
      dataStore: (call) => {
        asked.push(`${call.op} ${call.storeId}`);
        return Promise.resolve({ ok: true });
      },
    });
    const props = { ds: { kind: 'data-store', id: 'ds_own' }, text: { kind: 'value', value: 'ds_text' } } as const;
    const ran = await world.unharmed(() => {
      asked = [];
      return runInForgedProcess(
        `function attack() {
  const ids = ['ds_other', 'ds_text', '', 'ds_own ', '__proto__', 'ds_own'];
  ids.forEach((storeId, i) => send(DATA_STORE, 1, String(i), JSON.stringify({ storeId, op: 'clear' })));
  setTimeout(() => send(OUTCOME, 1, '[1,1]'), 100);
}`,
        { props },
        host,
      );
    });
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(asked).toEqual(['clear ds_own']);
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// bridge: Emits, writes, requests, timers and answers after a run has ended, by itself and from a
// later run.
describe('words-after-the-end', () => {
  const world = hostile();

  const CODE = `
let before;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// A timer that holds no run: the first run ends before it is due.
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref());
export default { name: 'Late', version: '1', props: { db: '$.service.db' }, async run({ late }) {
  if (!late) {
    before = this;
    this.$emit('in time');
    later(1).then(() => { this.$emit('late'); this.db.set('late', 1); fetch('http://127.0.0.1:1/'); setInterval(() => this.$emit('interval'), 1); });
    return;
  }
  before?.$emit('through another');
  before?.db.set('late', 2);
  let read = 'nothing to read with';
  try { if (before) { before.db.get('other'); read = 'read'; } } catch (error) { read = error.name; }
  await wait(20);
  this.$emit(['second', this.db.get('late') ?? null, read === 'read']);
} };`;

  it('count for nothing', async () => {
    const ran = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(CODE);
      await world.run(id, { late: false });
      return world.run(id, { late: true });
    });
    expect(ran.error).toBeUndefined();
    expect(ran.events).toEqual(['in time', ['second', null, false]]);
  });
});
