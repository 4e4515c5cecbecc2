// builder: Install scripts of a package that would write a file on the server.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('runs none of them, and the package is used as it came', async () => {
  const script = `node -e "require('fs').writeFileSync('${chain.outside}/proof', '')"`;
  const scripts = { preinstall: script, install: script, postinstall: script, prepare: script, prepublish: script };
  const files = { 'index.js': "module.exports = 'harmless';", 'binding.gyp': '{}' };
  await chain.publish({ name: 'scripted', version: '1.0.0', manifest: { scripts, hasInstallScript: true }, files });
  expect((await chain.importing('scripted')).events).toEqual([{ found: 'harmless' }]);
  await chain.expectUntouched();
});
