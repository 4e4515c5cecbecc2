// builder: Paths in a tarball that lead out of the package: climbing, absolute, with backslashes.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('are refused by the name of the package, and nothing is written', async () => {
  const paths: Record<string, string> = {
    'path-climbs': `package/../../../../../..${chain.outside}/escaped.js`,
    'path-is-absolute': `${chain.outside}/escaped.js`,
    'path-climbs-inside': 'package/a/../../../escaped.js',
    'path-with-backslashes': 'package\\..\\escaped.js',
  };
  for (const [name, path] of Object.entries(paths))
    await chain.publish({ name, version: '1.0.0', entries: [{ path, content: 'bad' }] });
  expect(await chain.refusals(...Object.keys(paths))).toEqual(
    Object.entries(paths).map(
      ([name, path]) =>
        `Cannot resolve "${name}": ${name}@1.0.0: its archive cannot be used: the path ${JSON.stringify(path)} leads out of the package`,
    ),
  );
  await chain.expectUntouched();
});
