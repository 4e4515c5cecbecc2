// limits: Expressions that name a thousand environment variables each, under keys of fifty thousand characters: gigabytes of places.
import { expect, it } from 'vitest';
import { residentBytes } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const PROPS = 50;
const VARIABLES = 1_000;
const MAX_GROWTH = 400 * 1024 * 1024;

const definitions = Array.from({ length: PROPS }, (_, n) => `p${n}: { type: 'any' }`).join(', ');
const CODE = `export default { name: 'Many', version: '1', type: 'action', props: { ${definitions} }, run() {} };`;

it('are refused in a short answer', async () => {
  const { attacker, server } = world;
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const names = Array.from(
    { length: VARIABLES },
    (_, n) => `A${letters[n % 26]}${letters[Math.floor(n / 26) % 26]}${Math.floor(n / 676)}`,
  );
  const expression = `{{[${names.map((name) => `env.${name}`).join(',')}]}}`;
  const props = Object.fromEntries(
    Array.from({ length: PROPS }, (_, n) => [`p${n}`, { ['k'.repeat(50_000)]: expression }]),
  );
  const before = residentBytes(server.pid);
  await world.unharmed(async () => {
    const { status, body, text } = await attacker.api('POST', '/workflows', {
      steps: [{ namespace: 'many', component_code: CODE, props }],
    });
    expect([status, text.length < 200_000]).toEqual([400, true]);
    expect(body.errors[0].message).toContain('has no environment variable Aaa0');
  });
  expect(residentBytes(server.pid) - before).toBeLessThan(MAX_GROWTH);
});
