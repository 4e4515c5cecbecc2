// bridge: Props and methods named `__proto__`, constructor and $emit, with values of the attacker's.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("are the component's own affair, or refused", async () => {
  const outcome = await world.unharmed(async () => {
    const answer = await fetch(`${world.server.url}/v1/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.attacker.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        component_code: `export default { name: 'Props', version: '1',
          props: { ['__proto__']: { type: 'string' }, constructor: { type: 'string' }, toString: { type: 'string' } },
          methods: { ['__proto__']() {}, hasOwnProperty() {} },
          run() { this.$emit(typeof {}.polluted) } };`,
        configured_props: 'PROPS',
      }).replace('"PROPS"', '{"__proto__":{"polluted":1},"constructor":"c","toString":"t"}'),
    });
    return answer.status;
  });
  expect([200, 400]).toContain(outcome);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
