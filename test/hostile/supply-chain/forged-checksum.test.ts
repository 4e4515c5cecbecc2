// builder: A tarball that is not the one whose checksum the registry names, to be taken for an honest one by other tenants.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { emitting, refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

interface Packument {
  versions: Record<string, { dist: { integrity: string } }>;
}

const chain = supplyChain();

it('is not used, and does not get into the cache that all tenants share', async () => {
  await chain.publish({ name: 'honest', version: '1.0.0' });
  const described = await fetch(`${chain.registry.url}honest`);
  const integrity = ((await described.json()) as Packument).versions['1.0.0']?.dist.integrity;
  await chain.publish(
    { name: 'forged', version: '1.0.0', dist: { integrity } },
    { name: 'unchecked', version: '1.0.0', dist: { integrity: undefined, shasum: undefined } },
    { name: 'weak', version: '1.0.0', dist: { integrity: `md5-${createHash('md5').update('x').digest('base64')}` } },
  );
  expect(refusedWith(await chain.importing('forged'))).toContain('its checksum is not the one that the registry names');
  expect(refusedWith(await chain.importing('unchecked'))).toContain('it has no versions in the registry');
  expect(refusedWith(await chain.importing('weak'))).toContain('it has no versions in the registry');
  const { neighbour } = chain.world;
  const code = `import honest from 'honest';\n${emitting('honest')}`;
  const saved = await neighbour.api('POST', '/components', { component_code: code });
  expect(saved.body.data.dependencies).toEqual({ honest: '1.0.0' });
});
