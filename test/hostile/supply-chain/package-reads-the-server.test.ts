// builder: A package that requires files of the server, by absolute and by climbing paths, and names them in its fields.
import { expect, it } from 'vitest';
import { SECRET, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const climb = '../../../../../../../..';

it('gets an error where it asks, as for a file that does not exist', async () => {
  const paths = [chain.secret, `${climb}${chain.secret}`, `file://${chain.secret}`, `./${climb}${chain.outside}`];
  const tries = paths.map((path) => `() => require('${path}')`).join(', ');
  const index = `module.exports = [${tries}].map((read) => { try { return read(); } catch (error) { return error.code; } });`;
  await chain.publish({ name: 'reads', version: '1.0.0', files: { 'index.js': index } });
  const outcome = await chain.importing('reads');
  expect(outcome.events).toEqual([{ found: paths.map(() => 'MODULE_NOT_FOUND') }]);
  expect(JSON.stringify(outcome)).not.toContain(SECRET);
});

it('finds no file by its fields', async () => {
  const { secret } = chain;
  const manifests: Record<string, Record<string, unknown>> = {
    'by-main': { main: climb + secret },
    'by-absolute-main': { main: secret },
    'by-exports': { exports: `./${climb}${secret}` },
    'by-pattern': { exports: { '.': `./*/${climb}${secret}` } },
    'by-module': { module: climb + secret, browser: { './index.js': secret } },
  };
  for (const [name, manifest] of Object.entries(manifests))
    await chain.publish({ name, version: '1.0.0', manifest, files: { 'other.js': '' } });
  const names = Object.keys(manifests);
  expect(await chain.refusals(...names)).toEqual(
    names.map((name) => `Cannot resolve "${name}": ${name}@1.0.0 has no file to import`),
  );
});
