// limits: A kilobyte of code whose five hundred props have names of two thousand characters, and thirteen mistakes each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `const wrong = { type: 'integer', label: 1, description: 1, optional: 1, secret: 1, customResponse: 1, useQuery: 1,
  reloadProps: 1, withLabel: 1, hidden: 1, disabled: 1, min: 'a', max: 'b', options: 3 };
const [props, hooks] = [{}, {}];
for (let i = 0; i < 450; i++) props['n'.repeat(1900) + i] = hooks['h'.repeat(10) + i] = wrong;
export default { name: 'Wrong', version: '1', props, hooks, run() {} };`;

it('the first hundred are told, and not megabytes', async () => {
  const answers = await world.unharmed(() =>
    Promise.all(Array.from({ length: 10 }, () => world.attacker.api('POST', '/components', { component_code: CODE }))),
  );
  for (const { status, body, text } of answers) {
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(100);
    expect(text.length).toBeLessThan(100_000);
  }
});
