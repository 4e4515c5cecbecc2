// builder: Headers of a tarball that lie: sizes beyond the archive, broken pax records, a name of a megabyte.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const file = { path: 'package/index.js', content: 'module.exports = 1;' };

const HEADERS = [
  ['pax-size', 'x', '24 size=999999999999999\n', 'the archive ends in the middle of a file'],
  ['pax-length', 'x', '-5 path=x\n', 'a header of the archive is broken'],
  ['pax-climbing', 'x', '27 path=package/../../x.js\n', 'the path "package/../../x.js" leads out of the package'],
  ['pax-zeros', 'x', `${'0'.repeat(60_000)}1 `, 'a header of the archive is broken'],
  ['long-name', 'L', 'package/'.repeat(8_000), 'a path has more than 4096 characters'],
  ['longer-name', 'L', 'package/'.repeat(131_072), 'a header of the archive has more than 65536 bytes'],
] as const;

it('are refused by what is wrong with the archive', async () => {
  for (const [name, type, content] of HEADERS)
    await chain.publish({ name, version: '1.0.0', entries: [{ path: 'package/header', type, content }, file] });
  expect(await chain.refusals(...HEADERS.map(([name]) => name))).toEqual(
    HEADERS.map(
      ([name, , , reason]) => `Cannot resolve "${name}": ${name}@1.0.0: its archive cannot be used: ${reason}`,
    ),
  );
});
