// limits: Many components with a package of ten megabytes at once, each of which takes long to load.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const MB = 2 ** 20;
/** How much of them a node holds at a time is in the tests of the builder. */
const COUNT = 7;
const LOADING_MS = 200;

it('wait before they are built or found, not after, and the neighbour saves meanwhile', async () => {
  const { attacker, neighbour } = chain.world;
  const text = 'x'.repeat(10 * MB);
  await chain.publish({ name: 'huge', version: '1.0.0', files: { 'index.js': `module.exports = () => '${text}';` } });
  await chain.publish({ name: 'small', version: '1.0.0', files: { 'index.js': 'module.exports = () => 1;' } });
  const code = `import huge from 'huge@1.0.0'; const end = Date.now() + ${LOADING_MS}; while (Date.now() < end);
    export default { name: 'Huge', key: 'of-huge', version: '1', run() { huge(); } };`;
  const save = () => attacker.api('POST', '/components', { component_code: code });
  const first = await save();
  expect(first.status).toBe(200);
  await chain.world.unharmed(async () => {
    let over = 0;
    const all = Array.from({ length: COUNT }, async () => {
      const { status, body } = await save();
      over++;
      return [status, body.data?.id ?? JSON.stringify(body)];
    });
    const own = "import small from 'small@1.0.0'; export default { name: 'Own', version: '1', run() { small(); } };";
    const { status } = await neighbour.api('POST', '/components', { component_code: own });
    expect(status).toBe(200);
    expect(over).toBeLessThan(COUNT);
    expect(new Set((await Promise.all(all)).map(String))).toEqual(new Set([`200,${first.body.data.id}`]));
  });
});
