// bridge: Thrown values that cannot be read or copied, at the top level of a component.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const THROWN = [
  'null',
  `Symbol('s')`,
  `new Proxy({}, { get() { throw new Error('no'); } })`,
  `Object.defineProperty(new Error('m'), 'stack', { get() { throw new Error('no'); } })`,
  `Object.defineProperty(new Error('m'), 'message', { get: () => 'x'.repeat(20e6) })`,
];

it('the component is refused with a text of ours', async () => {
  const refusals = await world.unharmed(async () => {
    const all = THROWN.map((value) => world.attack(`throw ${value};\nexport default {};`));
    return (await Promise.all(all)).map(({ refused }) => refused);
  });
  for (const refused of refusals) {
    expect(refused).toMatchObject({ status: 400, detail: expect.stringMatching(/failed to load: ./) as string });
    expect(refused?.detail).not.toContain('isolated-vm');
    expect(refused?.detail.length).toBeLessThan(5_000);
  }
});
