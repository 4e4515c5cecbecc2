// database: A version in the registry replaced by other code: again, at the same moment many times, and after it was withdrawn.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { publishCode, registryCode, saveCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';

const world = hostile();

it('has the code that was there first, for ever', async () => {
  const { attacker } = world;
  const prefix = uniquePrefix();
  await world.limit({ maxRegistryVersions: 100 });
  let rounds = 0;
  await world.unharmed(async () => {
    const key = `${prefix}-fixed-${rounds++}`;
    await publishCode(attacker, registryCode(key, '1.0.0', 'mark: 0,'));
    const ids = [];
    for (let n = 1; n <= 8; n++) ids.push(await saveCode(attacker, registryCode(key, '1.0.0', `mark: ${n},`)));
    const answers = await Promise.all(
      ids.map((id) => attacker.api('POST', `/components/${id}/publish`, { scope: 'registry' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 409));
    const fresh = [];
    for (let n = 1; n <= 8; n++) fresh.push(await saveCode(attacker, registryCode(key, '2.0.0', `mark: ${n},`)));
    const raced = await Promise.all(
      fresh.map((id) => attacker.api('POST', `/components/${id}/publish`, { scope: 'registry' })),
    );
    expect(raced.filter(({ status }) => status === 200)).toHaveLength(1);
    const kept = await attacker.api('GET', `/components/registry/${key}?version=1.0.0`);
    expect(kept.body.data.code).toContain('mark: 0,');
    await attacker.api('POST', `/components/${key}/unpublish`, { scope: 'registry', version: '1.0.0' });
    const again = await publishCode(attacker, registryCode(key, '1.0.0', 'mark: 9,'));
    expect(again.status).toBe(409);
  });
});
