// isolate: What the checks of `$` are made with, patched so that reserved names and times without end would leave the isolate.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep, withStep } from '../../support/step-kit.ts';

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

it('what the other side would not take does not leave, and the process lives on', async () => {
  await world.unharmed(async () => {
    const ran = await runStep(sandbox.run, withStep(ATTEMPTS), { isolateKey: 'p_checks.c_a:1' });
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(ran.returned).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError', 'taken', 'taken', 'taken']);
    expect(ran.record.exports).toEqual([]);
    expect(ran.record.flows).toMatchObject([{ kind: 'exit' }]);
    expect(sandbox.get().stats().crashes).toBe(0);
  });
});
