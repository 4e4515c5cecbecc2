// isolate: Recursion without end: in functions, in JSON, in a regular expression, in toString.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const RECURSIONS = {
  function: 'const f = () => f(); f();',
  json: 'let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; JSON.stringify(deep);',
  regex: `/^(?:a|b|(?:c))*$/.test('a'.repeat(1e7));`,
  toString: 'const a = {}; a.toString = () => String(a); throw new TypeError(a);',
  proxy: 'let proxy = {}; for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {}); proxy.x;',
};

it('is an error of the component, and its isolate goes on', async () => {
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(
      `export default { name: 'Deep', version: '1', run({ code }) { this.$emit('before'); new Function(code)(); } };`,
    );
    const outcomes = [];
    for (const code of Object.values(RECURSIONS)) outcomes.push(await world.run(id, { code }));
    return outcomes;
  });
  for (const { error } of runs) {
    expect(error).toMatchObject({
      code: 'COMPONENT_ERROR',
      message: 'RangeError: Maximum call stack size exceeded',
    });
  }
  expect(runs.at(-1)?.events).toHaveLength(runs.length);
});
