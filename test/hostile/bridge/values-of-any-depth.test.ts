// bridge: Events and values a hundred thousand levels deep, and some thousand.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what cannot be written as JSON is an error, and the rest goes the whole way', async () => {
  // A second of it, and several times that on a machine that is full.
  await world.limit({ runCpuMs: 60_000 });
  const ran = await world.unharmed(() =>
    world.attack(`
const nest = (levels) => { let value = 1; for (let i = 0; i < levels; i++) value = [value]; return value; };
const attempt = (act) => { try { act(); return 'taken'; } catch (error) { return error.name; } };
const cycle = {}; cycle.self = cycle;
const answers = [
  attempt(() => this.$emit(nest(1e5))), attempt(() => this.db.set('deep', nest(1e5))),
  attempt(() => this.$emit(cycle)), attempt(() => this.$emit({ big: 1n })), attempt(() => this.$emit(() => {})),
  attempt(() => console.log(nest(1e5))),
];
this.$emit(nest(2000));
this.$emit(answers);`),
  );
  expect(ran.error).toBeUndefined();
  const [deep, answers] = ran.events as [unknown, string[]];
  expect(JSON.stringify(deep)).toBe(`${'['.repeat(2000)}1${']'.repeat(2000)}`);
  expect(answers).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError', 'taken']);
});
