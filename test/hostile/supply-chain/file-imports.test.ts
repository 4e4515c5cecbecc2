// builder: Imports of files of the server, by every way to write one, and of addresses.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

const IMPORTS = [
  ['/etc/passwd', 'files of the server cannot be imported'],
  ['../../../../../../etc/passwd', 'there is no such file beside the component'],
  ['./../../../etc/passwd', 'there is no such file beside the component'],
  ['..', 'there is no such file beside the component'],
  ['file:///etc/passwd', 'imports from file: addresses are not available'],
  ['git+ssh://git@127.0.0.1/x.git', 'imports from git+ssh: addresses are not available'],
  ['http://127.0.0.1/x.js', 'imports from http: addresses are not available'],
  ['data:text/javascript,export default 1', 'imports from data: addresses are not available'],
  ['package@file:/etc', 'is not a version, a range or a tag of the registry'],
  ['package@npm:other', 'is not a version, a range or a tag of the registry'],
  ['package/../../../etc/passwd', 'a path inside a package cannot contain dots'],
  ['..\\\\..\\\\etc\\\\passwd', 'files of the server cannot be imported'],
  ['node_modules/esbuild', 'this is not the name of a package'],
] as const;

it('are refused by their reasons', async () => {
  const refusals = await chain.refusals(...IMPORTS.map(([path]) => path));
  expect(refusals).toEqual(IMPORTS.map(([, reason]) => expect.stringContaining(reason)));
});
