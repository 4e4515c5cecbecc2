// isolate: `steps`, `$` and the prototypes of both, changed in one run of a step to reach the next one in the same isolate.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { bundle, freshKey, sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep } from '../../support/step-kit.ts';

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

it('every run has its own, and what was kept of one that is over says nothing', async () => {
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
