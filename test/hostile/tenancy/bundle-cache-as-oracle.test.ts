// tenancy: Saving a piece of code to learn whether the neighbour has it already.
import { expect, it } from 'vitest';
import { announcePackages } from '../../support/hostile-registry.ts';
import { hostile } from '../../support/hostile.ts';
import { startPackageRegistry } from '../../support/package-registry.ts';

const world = hostile();
const CODE = `import harmless from 'harmless';
export default { name: 'Rare', version: '1', run() { this.$emit(harmless); } };`;

it('code is bundled for each account anew, and the answer says nothing of others', async () => {
  const { attacker, neighbour, sql } = world;
  const registry = await startPackageRegistry();
  registry.add({ name: 'harmless', version: '1.0.0' });
  await announcePackages(registry.url, ['harmless']);
  const theirs = await neighbour.api('POST', '/components', { component_code: CODE });
  const [mine, never] = await world.unharmed(() =>
    Promise.all([
      attacker.api('POST', '/components', { component_code: CODE }),
      attacker.api('POST', '/components', { component_code: CODE.replace('Rare', 'Rarer') }),
    ]),
  );
  expect(Object.keys(mine.body.data as object)).toEqual(Object.keys(never.body.data as object));
  expect(mine.body.data.id).not.toBe(theirs.body.data.id);
  const rows = await sql<{ account_id: string; built_at: Date; created_at: Date }[]>`
    select account_id, built_at, created_at from components
    where code_hash = ${mine.body.data.code_hash as string} and account_id in (${attacker.id}, ${neighbour.id})`;
  expect(new Set(rows.map((row) => row.account_id))).toEqual(new Set([attacker.id, neighbour.id]));
  // A bundle that was used again keeps the time at which it was made.
  const [made] = rows.filter((row) => row.account_id === neighbour.id);
  expect(rows.filter((row) => row.built_at.getTime() === made?.built_at.getTime())).toEqual([made]);
  await registry.stop();
});
