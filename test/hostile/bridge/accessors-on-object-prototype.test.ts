// bridge: Setters and getters on Object.prototype, for every name that the platform uses in its own objects.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they neither see nor change what leaves', async () => {
  const emitted = await emitsOf(
    world,
    `const names = ['id', 'name', 'summary', 'ts', 'message', 'stack', 'limit', 'code', 'run', 'over', 'bytes', 'status', 'headers', 'url', 'method', 'kind', 'cause'];
const seen = [];
for (const name of names) Object.defineProperty(Object.prototype, name, { configurable: true, get() { return undefined; }, set(value) { seen.push(name); Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true }); } });
this.$emit('text', { __proto__: null, id: 'i', summary: 's' });
this.db.set('key', 'value');
const value = this.db.get('key');
for (const name of names) delete Object.prototype[name];
this.$emit(value);`,
  );
  expect(emitted).toEqual(['text', 'value']);
});
