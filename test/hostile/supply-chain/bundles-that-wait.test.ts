// limits: Forty components with a package of twenty megabytes at once, each of which takes long to load.
import { expect, it } from 'vitest';
import { hostileServer, residentBytes } from '../../support/hostile-server.ts';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const MB = 2 ** 20;
const COUNT = 40;
/** Of all their bundles together; with their copies it was more, and now it is what two of them take. */
const MAX_GROWTH_BYTES = COUNT * 20 * MB;
const LOADING_MS = 200;

it('wait before they are built or found, not after, and the neighbour saves meanwhile', async () => {
  const { attacker, neighbour } = chain.world;
  const { pid } = hostileServer();
  const text = 'x'.repeat(20 * MB);
  await chain.publish({ name: 'huge', version: '1.0.0', files: { 'index.js': `module.exports = () => '${text}';` } });
  const code = `import huge from 'huge@1.0.0'; const end = Date.now() + ${LOADING_MS}; while (Date.now() < end);
    export default { name: 'Huge', key: 'of-huge', version: '1', run() { huge(); } };`;
  const save = () => attacker.api('POST', '/components', { component_code: code });
  const first = await save();
  expect(first.status).toBe(200);
  const before = residentBytes(pid);
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, residentBytes(pid))), 20);
  await chain.world.unharmed(async () => {
    let over = 0;
    const all = Array.from({ length: COUNT }, async () => {
      const { status, body } = await save();
      over++;
      return [status, body.data?.id];
    });
    const own = "import huge from 'huge@1.0.0'; export default { name: 'Own', version: '1', run() { huge(); } };";
    const { status } = await neighbour.api('POST', '/components', { component_code: own });
    expect(status).toBe(200);
    expect(over).toBeLessThan(COUNT);
    expect(new Set((await Promise.all(all)).map(String))).toEqual(new Set([`200,${first.body.data.id}`]));
  });
  clearInterval(timer);
  expect(most - before).toBeLessThan(MAX_GROWTH_BYTES);
});
