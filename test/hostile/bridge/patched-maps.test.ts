// bridge: Map.prototype and WeakMap.prototype patched to catch what the platform keeps of runs, timers and calls.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('nothing of it passes by', async () => {
  const emitted = await emitsOf(
    world,
    `const caught = [];
for (const kind of [Map, Set, WeakMap, WeakSet]) for (const name of ['get', 'set', 'has', 'add', 'delete', 'clear', 'values', 'forEach', Symbol.iterator]) {
  const was = kind.prototype[name];
  if (was === undefined) continue;
  kind.prototype[name] = function (...args) {
    if (args.some((arg) => typeof arg === 'object' && arg !== null && ('run' in arg || 'context' in arg))) caught.push(String(name));
    return Reflect.apply(was, this, args);
  };
}
process.getBuiltinModule('fs').writeFileSync('/tmp/a', 'a');
this.$emit('first');
this.db.set('key', 1);
await new Promise((resolve) => setTimeout(resolve, 1));
await fetch('http://127.0.0.1:1/').catch(() => {});
await crypto.subtle.digest('SHA-256', new Uint8Array(1));
console.log('x');
this.$emit(caught);`,
  );
  expect(emitted).toEqual(['first', []]);
});
