// secrets: Code that keeps what it saw in globals, to read an old secret after it was replaced.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `globalThis.seen ??= [];
  export default { name: 'Keeps', version: '1', props: { token: { type: 'string', secret: true } },
    run() { globalThis.seen.push([...this.token].reverse().join('')); this.$emit(globalThis.seen); } };`;

it('a replaced secret is in no isolate that runs again, and the next run has the new one', async () => {
  const { attacker } = world;
  await world.unharmed(async () => {
    const source = await attacker.deploy(CODE, { token: 'old-secret' });
    await world.run(source.id);
    await attacker.api('PUT', `/sources/${source.id}`, { configured_props: { token: 'new-secret' } });
    const { events } = await world.run(source.id);
    expect(events).toEqual([['terces-dlo'], ['terces-wen']]);
  });
});
