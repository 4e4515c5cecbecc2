// bridge: Thrown values that cannot be read, have no text, or answer something else each time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const THROWN = [
  'null',
  'undefined',
  `Symbol('s')`,
  '123n',
  '() => {}',
  'Object.create(null)',
  `new Proxy({}, { get() { throw new Error('no'); } })`,
  `new Proxy(new Error('x'), { getPrototypeOf() { throw 1; }, get() { throw 2; } })`,
  '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
  '{ message: { toString() { throw 1; } } }',
  `{ message: 'm', name: { toString() { throw 1; } }, stack: 5 }`,
  `Object.assign(new Error('m'), { stack: { toString: () => '    at evil (hw:component:1:1)' } })`,
  `Object.defineProperty(new Error('m'), 'message', { get: () => Symbol('not text') })`,
  `(() => { const error = new Error('cycle'); error.cause = error; error.errors = [error]; return error; })()`,
  `new AggregateError([null, undefined], 'many')`,
];

interface Run {
  id: string;
  error: { code: string; message: string } | null;
}

it('every one of them is an error with a text, at once and after an await', async () => {
  const { attacker } = world;
  const runs = await world.unharmed(async () => {
    const { id } = await attacker.deploy(
      `export default { name: 'Throws', version: '1', async run({ code, late }) {
        if (late) await null;
        throw new Function('return ' + code)();
      } };`,
    );
    const orders = THROWN.flatMap((code) => [{ code }, { code, late: true }]);
    await Promise.all(orders.map((event) => attacker.api('POST', `/sources/${id}/run`, { event })));
    await world.untilIdle();
    const { body } = await attacker.api('GET', `/sources/${id}/runs?limit=100`);
    return body.data as Run[];
  });
  expect(runs).toHaveLength(2 * THROWN.length);
  for (const { error } of runs)
    expect(error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringMatching(/./) as string });
});
