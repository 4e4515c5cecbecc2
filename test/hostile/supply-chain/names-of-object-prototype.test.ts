// builder: Tags, versions, exports and dependencies named as what every object has: constructor, `__proto__`, toString.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('mean nothing beyond themselves', async () => {
  await chain.publish({ name: 'tagged', version: '1.0.0' });
  chain.registry.instead = (path, response) => {
    if (path !== '/tagged') return false;
    response.end(
      '{"dist-tags":{"latest":"constructor","__proto__":"1.0.0"},"versions":{"__proto__":{"dist":{}},"x":{}}}',
    );
    return true;
  };
  expect(refusedWith(await chain.importing('tagged'))).toContain('Cannot resolve "tagged"');
  expect(refusedWith(await chain.importing('tagged@constructor'))).toContain('Cannot resolve "tagged@constructor"');
  chain.registry.instead = undefined;
  await chain.publish(
    {
      name: 'polluting',
      version: '1.0.0',
      manifest: JSON.parse(
        '{"exports":{"__proto__":{"import":"./x.js"},".":{"__proto__":"./x.js","default":"./index.js"}}}',
      ),
    },
    { name: 'constructor', version: '1.0.0' },
  );
  expect((await chain.importing('polluting')).events).toEqual([{ found: 'polluting@1.0.0' }]);
  expect((await chain.importing('constructor')).events).toEqual([{ found: 'constructor@1.0.0' }]);
  for (const name of ['constructor@constructor', 'polluting/toString', 'polluting/constructor'])
    expect(refusedWith(await chain.importing(name))).toContain(`Cannot resolve "${name}"`);
});
