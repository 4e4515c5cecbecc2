// builder: Names in a tarball that meet elsewhere: twice the same, in other case, in two forms of Unicode, of Object.prototype.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('keeps them apart as they are spelt, and the last of two that are the same counts', async () => {
  const entry = (path: string, value: string) => ({ path: `package/${path}`, content: `module.exports = '${value}';` });
  const index = `module.exports = ['./twice.js', './Case.js', './case.js', './\u00e9.js', './e\u0301.js', './__proto__.js',
    './constructor'].map((name) => { try { return load[name](); } catch (error) { return error.code; } });
    function load() {} ;`;
  const loads = [
    './twice.js',
    './Case.js',
    './case.js',
    './\u00e9.js',
    './e\u0301.js',
    './__proto__.js',
    './constructor',
  ]
    .map((name) => `load['${name}'] = () => require('${name}');`)
    .join('\n');
  await chain.publish({
    name: 'names',
    version: '1.0.0',
    entries: [
      { path: 'package/package.json', content: '{"name":"names","version":"1.0.0","__proto__":{"main":"./twice.js"}}' },
      { path: 'package/index.js', content: `${loads}\n${index}` },
      entry('twice.js', 'first'),
      entry('twice.js', 'last'),
      entry('Case.js', 'upper'),
      entry('case.js', 'lower'),
      entry('\u00e9.js', 'composed'),
      entry('e\u0301.js', 'decomposed'),
      entry('__proto__.js', 'own'),
    ],
  });
  expect((await chain.importing('names')).events).toEqual([
    { found: ['last', 'upper', 'lower', 'composed', 'decomposed', 'own', 'MODULE_NOT_FOUND'] },
  ]);
});
