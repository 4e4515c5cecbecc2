// fairness: As many imports of a thousand components as may wait, while the neighbour saves, imports and deploys.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { eventually } from '../../support/eventually.ts';
import { registryCode, saveCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';

const world = hostile();

it('keeps the builder busy, and the neighbour is served in his turn', async () => {
  const { attacker, neighbour } = world;
  const files = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [
      `a/sources/s${n}/s${n}.mjs`,
      `export default { name: 'S${n}', version: '1.0.0', run() {} };`,
    ]),
  );
  await world.unharmed(async () => {
    const started = [];
    for (let n = 0; n < 6; n++) started.push(await attacker.api('POST', '/registry/import', { files, scope: 'draft' }));
    expect(started.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    const key = `${uniquePrefix()}-fair`;
    await saveCode(neighbour, registryCode(key, '1.0.0'));
    const own = await neighbour.api('POST', '/registry/import', {
      files: { 'b/sources/one/one.mjs': registryCode(`${key}-two`, '1.0.0') },
    });
    await eventually(
      async () => {
        const { body } = await neighbour.api('GET', `/registry/imports/${own.body.data.id}`);
        return body.data.status === 'done' && body.data.succeeded === 1;
      },
      { timeoutMs: 30_000 },
    );
    const { body } = await attacker.api('GET', `/registry/imports/${started[3]?.body.data.id}`);
    expect(body.data.status).toBe('running');
  });
  await world.sql`update registry_imports set ended_at = now() where account_id = ${attacker.id}`;
});
