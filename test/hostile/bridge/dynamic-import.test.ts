// isolate: Modules by name at run time: import(), require, module.createRequire and what hangs on import.meta.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('there is nothing to load from', async () => {
  const emitted = await emitsOf(
    world,
    `const found = [];
const attempt = async (what, act) => { try { const got = await act(); if (got !== undefined) found.push(what); } catch {} };
for (const name of ['node:fs', 'fs', 'isolated-vm', '/etc/passwd', 'file:///etc/passwd', 'data:text/javascript,export default 1']) {
  await attempt('import ' + name, () => new Function('name', 'return import(name)')(name));
  await attempt('eval ' + name, () => (0, eval)('import(' + JSON.stringify(name) + ')'));
}
const { createRequire } = process.getBuiltinModule('module');
for (const name of ['isolated-vm', '/etc/passwd', './process-main.ts']) await attempt('require ' + name, () => createRequire('/')(name));
await attempt('mainModule', () => process.mainModule);
await attempt('dlopen', () => process.dlopen);
await attempt('binding', () => process.binding('fs').open);
await attempt('linked', () => process._linkedBinding);
this.$emit(found);`,
  );
  expect(emitted).toEqual([[]]);
});
