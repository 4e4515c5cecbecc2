// bridge: Emits, writes and reads from within the toJSON and the getters of what is being emitted.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('each is whole, in the order in which they were finished', async () => {
  const emitted = await emitsOf(
    world,
    `let depth = 0;
const inner = { toJSON: () => { depth += 1; if (depth < 5) this.$emit(inner); this.db.set('n', depth); return depth; } };
this.$emit({ get first() { return inner; }, get second() { return this.first === inner; } });
const { db: outer } = this;
this.$emit({ get stored() { return outer.get('n'); }, get none() { return outer.get('none') ?? null; } });
this.$emit(depth);`,
  );
  expect(emitted).toEqual([5, 5, 5, 5, { first: 5, second: true }, { stored: 5, none: null }, 5]);
});
