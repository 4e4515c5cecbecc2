// isolate: What an error says of a name that an expression did not find, read with patched built-ins of another run of the code.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { freshKey, sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep } from '../../support/step-kit.ts';

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
    expect(missing.outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining('it has `TOKEN`') } });
    const last = await runStep(sandbox.run, CODE, { isolateKey });
    expect(last.outcome).toMatchObject({ ok: true });
    expect(JSON.stringify(last.returned)).not.toContain('of-another-step');
  });
});
