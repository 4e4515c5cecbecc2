// isolate: Constructors of everything that came over the bridge, down to Function, and code made with them.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('every one of them is of this isolate, where there is nothing of the process', async () => {
  const emitted = await emitsOf(
    world,
    `this.db.set('key', { value: [1] });
const refused = await fetch('http://127.0.0.1:1/').catch((error) => error);
const timer = setTimeout(() => {}, 1);
const given = {
  this: this, event, nested: event.list, props: this.db, get: this.db.get, stored: this.db.get('key'), refused,
  cause: refused.cause, timer, clear: clearTimeout, log: console.log, emit: this.$emit, hash: await crypto.subtle.digest('SHA-256', new Uint8Array(1)),
  random: crypto.getRandomValues(new Uint8Array(1)), fetch, process, next: process.nextTick, builtin: process.getBuiltinModule('zlib').gzipSync('x'),
};
const found = [];
for (const [name, value] of Object.entries(given)) {
  if (value === undefined || value === null) continue;
  let at = value;
  for (let depth = 0; depth < 6 && at !== undefined && at !== null; depth++, at = at.constructor) {
    const Made = at.constructor?.constructor;
    if (typeof Made !== 'function') continue;
    if (Made !== Function && !(Made.prototype instanceof Function)) found.push(name + ': another Function');
    const scope = Made('return this')?.();
    if (scope !== undefined && scope !== globalThis) found.push(name + ': another global');
    if (Made('return typeof require')() !== 'undefined') found.push(name + ': require');
    if (Made('return typeof process.dlopen + typeof process.mainModule')() !== 'undefinedundefined') found.push(name + ': process');
  }
  if (typeof value === 'object' && !(value instanceof Object)) found.push(name + ': another Object');
}
this.$emit(found);`,
    { event: { list: [{}] } },
  );
  expect(emitted).toEqual([[]]);
});
