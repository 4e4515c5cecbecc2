import { expect, test } from 'vitest';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';
import { runStep, withStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();

/** Several runs share an isolate; the first computes without end. */
test.each([
  ['its time', { wallMs: 1_500, cpuMs: 60_000 }, 'WALL_LIMIT'],
  ['its CPU time', { wallMs: 20_000, cpuMs: 800 }, 'CPU_LIMIT'],
])(
  'a run that computes until %s is over takes none of its isolate along',
  { timeout: 60_000 },
  async (what, limits, code) => {
    const isolateKey = `dc_computes_${limits.cpuMs}:1`;
    const component = withRun(
      `if (event.loop) for (;;); if (event.wait) await new Promise((done) => setTimeout(done, 50)); this.$emit(event.n)`,
    );
    await sandbox.run(component, { isolateKey, event: { n: 0 } });
    const waiting = sandbox.run(component, { isolateKey, event: { n: 1, wait: true }, ...limits });
    const loop = sandbox.run(component, { isolateKey, event: { loop: true }, ...limits });
    const behind = sandbox.run(component, { isolateKey, event: { n: 2 }, ...limits });
    expect((await loop).outcome).toMatchObject({ ok: false, innocent: false, fault: { code } });
    for (const { outcome } of await Promise.all([waiting, behind])) {
      // On a busy machine one may have had its turn before the first began to compute.
      if (outcome.ok) continue;
      expect([what, outcome]).toMatchObject([
        what,
        { innocent: true, fault: { message: /^Another run of this component/ } },
      ]);
    }
    const again = await sandbox.run(component, { isolateKey, event: { n: 2 }, alone: true, ...limits });
    expect([again.outcome.ok, again.host.data()]).toEqual([true, [2]]);
  },
);

test('steps of a workflow too are run again where another execution computed', { timeout: 60_000 }, async () => {
  const code = withStep(`if (steps.trigger.event.loop) for (;;); return steps.trigger.event.n;`);
  const options = { isolateKey: 'dc_step_computes:1', wallMs: 1_500, cpuMs: 60_000 };
  const run = (event: object, alone = false) =>
    runStep(sandbox.run, code, { ...options, alone, steps: { trigger: { event, context: {} } } });
  const [loop, second, third] = await Promise.all([run({ loop: true }), run({ n: 1 }), run({ n: 2 })]);
  expect(loop.outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'WALL_LIMIT' } });
  expect([second, third].map(({ outcome }) => outcome.ok || outcome.innocent)).toEqual([true, true]);
  expect((await run({ n: 1 }, true)).returned).toBe(1);
});

test('a run that was slow itself is not taken for one that others kept waiting', { timeout: 60_000 }, async () => {
  const component = withRun(
    `if (event.busy) { for (let i = 0; i < 5; i++) { const end = Date.now() + 60; while (Date.now() < end); await new Promise((r) => setTimeout(r, 5)) } }
     else await new Promise(() => {})`,
  );
  const isolateKey = 'dc_slow:1';
  const [slow, busy] = await Promise.all([
    sandbox.run(component, { isolateKey, event: {}, wallMs: 4_000 }),
    sandbox.run(component, { isolateKey, event: { busy: true }, wallMs: 20_000 }),
  ]);
  expect(busy.outcome.ok).toBe(true);
  expect(slow.outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'WALL_LIMIT' } });
});
