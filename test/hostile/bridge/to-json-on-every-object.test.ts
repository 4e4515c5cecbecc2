// bridge: A toJSON on Object.prototype and Array.prototype, which JSON.stringify would ask for what the platform says.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what the platform says about a run stays its own', async () => {
  const emitted = await emitsOf(
    world,
    `Object.prototype.toJSON = Array.prototype.toJSON = function () { return 'forged'; };
await fetch('http://127.0.0.1:1/', { headers: { a: 'b' } }).catch(() => {});
this.$emit('text', { id: 5, summary: 's' });
this.db.set('key', 'value');
this.$emit(this.db.get('key'));`,
  );
  expect(emitted).toEqual(['text', 'value']);
});
