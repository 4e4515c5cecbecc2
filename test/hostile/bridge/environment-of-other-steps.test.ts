// isolate: A step looks everywhere for environment variables that its props do not name, and for values of earlier runs.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { bundle, sandboxForFile } from '../../support/sandbox-kit.ts';
import { runStep } from '../../support/step-kit.ts';

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

it('what is found is what its own props came to in this run, and nothing else', async () => {
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
