// builder: Symbolic links, hard links and devices in a tarball, to a file of the server and to its folder.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('makes no link, and there is nothing behind it to import', async () => {
  await chain.publish({
    name: 'linking',
    version: '1.0.0',
    entries: [
      { path: 'package/package.json', content: '{"name":"linking","version":"1.0.0"}' },
      { path: 'package/index.js', type: '2', linkTo: chain.secret },
      { path: 'package/hard.js', type: '1', linkTo: chain.secret },
      { path: 'package/device.js', type: '3' },
      { path: 'package/pipe.js', type: '6' },
      { path: 'package/folder', type: '2', linkTo: chain.outside },
      { path: 'package/folder/written.js', content: 'module.exports = 1;' },
    ],
  });
  const names = ['', '/hard.js', '/device.js', '/pipe.js', '/folder/secret.js'].map((path) => `linking${path}`);
  const refusals = await chain.refusals(...names);
  expect(refusals.map((reason) => reason.split(':')[0])).toEqual(names.map((name) => `Cannot resolve "${name}"`));
  await chain.expectUntouched();
});
