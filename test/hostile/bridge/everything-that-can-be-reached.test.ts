// isolate: A walk over every object there is from the globals and from `this`, prototypes, symbols and accessors included.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('finds no object of the library and no function of another realm', async () => {
  const emitted = await emitsOf(
    world,
    `const found = [];
const seen = new Set();
const names = ['applySyncPromise', 'applySync', 'applyIgnored', 'derefInto', 'copyInto', 'createContextSync', 'compileModule'];
const realm = [Function.prototype, Object.prototype, null];
const stack = [[globalThis, 'globalThis'], [this, 'this'], [event, 'event']];
const push = (value, path) => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return;
  seen.add(value);
  stack.push([value, path]);
};
for (const name of ['crypto', 'zlib', 'http', 'fs', 'stream', 'util', 'vm', 'v8', 'worker_threads', 'module', 'async_hooks', 'perf_hooks'])
  push(process.getBuiltinModule(name), name);
while (stack.length > 0 && seen.size < 40_000) {
  const [value, path] = stack.pop();
  for (const name of names) {
    let member;
    try { member = value[name] } catch { continue }
    if (typeof member === 'function') found.push(path + '.' + name);
  }
  let root = value;
  for (let depth = 0; depth < 50 && Object.getPrototypeOf(root) !== null; depth++) root = Object.getPrototypeOf(root);
  if (root !== Object.prototype && Object.getPrototypeOf(root) === null && Reflect.ownKeys(root).includes('hasOwnProperty'))
    found.push(path + ': an Object.prototype of another realm');
  push(Object.getPrototypeOf(value), path + '.__proto__');
  for (const key of Reflect.ownKeys(value)) {
    const own = Object.getOwnPropertyDescriptor(value, key);
    push(own?.get, path + '.get ' + String(key));
    push(own?.set, path + '.set ' + String(key));
    push(own?.value, path + '.' + String(key));
  }
}
this.$emit({ found, enough: seen.size > 2000, left: stack.length, own: [typeof __headwaterBoot, typeof global.ivm, Object.keys(process.env).length] });`,
  );
  expect(emitted).toEqual([{ found: [], enough: true, left: 0, own: ['undefined', 'undefined', 0] }]);
});
