// builder: Settings of tools in a package, .npmrc, tsconfig.json and the like, that name another registry and other files.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { SECRET, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('are read by nobody', async () => {
  const asked: string[] = [];
  const other = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  const paths = {
    compilerOptions: { baseUrl: chain.outside, paths: { inner: [chain.secret] } },
    extends: chain.secret,
  };
  const files = {
    '.npmrc': `registry=${url}\n//127.0.0.1/:_authToken=x\nscript-shell=/bin/sh\n`,
    '.yarnrc.yml': `npmRegistryServer: ${url}\n`,
    'tsconfig.json': JSON.stringify(paths),
    'jsconfig.json': JSON.stringify(paths),
    'npm-shrinkwrap.json': JSON.stringify({ packages: { '': { resolved: url } } }),
    'index.js': "module.exports = require('inner');",
  };
  const manifest = {
    dependencies: { inner: '*' },
    overrides: { inner: `file:${chain.outside}` },
    config: { registry: url },
  };
  await chain.publish({ name: 'settings', version: '1.0.0', manifest, files }, { name: 'inner', version: '1.0.0' });
  const outcome = await chain.importing('settings');
  await new Promise((resolve) => other.close(resolve));
  expect(outcome.events).toEqual([{ found: 'inner@1.0.0' }]);
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
  expect(asked).toEqual([]);
});
