// builder: A package in the registry under the name of one that comes with the server, newer and asked for by its version.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is never taken', async () => {
  await chain.publish(
    { name: '@headwater/types', version: '9.9.9', files: { 'index.js': 'exports.defineSource = () => "taken over";' } },
    {
      name: 'passes-it-on',
      version: '1.0.0',
      manifest: { dependencies: { '@headwater/types': '9.9.9' } },
      files: { 'index.js': 'exports.defineSource = require("@headwater/types").defineSource;' },
    },
  );
  for (const name of ['@headwater/types', '@headwater/types@9.9.9', '@headwater/types@latest', 'passes-it-on']) {
    const { events } = await chain.deploy(`import { defineSource } from '${name}';
      export default { name: 'Asks', version: '1', run() { this.$emit(defineSource('given')); } };`);
    expect({ name, events }).toEqual({ name, events: ['given'] });
  }
});
