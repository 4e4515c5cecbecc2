import { describe, expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import { hostile } from '../../support/hostile.ts';

// fairness: Fifty components of one account at once, all with packages that the registry does not
// hand out.
describe('build-flood', () => {
  const chain = supplyChain();

  it('are refused beyond what may wait, and the neighbour saves components meanwhile', async () => {
    await chain.publish({ name: 'held', version: '1.0.0' });
    const { promise, resolve } = Promise.withResolvers<void>();
    chain.registry.hold = promise;
    const saveHeld = (i: number) =>
      chain.world.attacker.api('POST', '/components', { component_code: `import x from 'held'; export default ${i};` });
    const flood = Array.from({ length: 50 }, (_, i) => saveHeld(i));
    const outcome = await chain.deploy("export default { name: 'x', version: '1', run() { this.$emit(1); } };");
    expect(outcome.events).toEqual([1]);
    chain.registry.hold = undefined;
    resolve();
    const answers = await Promise.all(flood);
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 429]));
    // Those that were taken on are all built: half a minute, where other tests need the processors
    // too.
  });
});

// limits: Many components with a package of ten megabytes at once, each of which takes long to
// load.
describe('bundles-that-wait', () => {
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
});

// builder: A package of a few kilobytes packed that makes a bundle of twenty-six megabytes.
describe('oversized-bundle', () => {
  const chain = supplyChain();

  it('is refused by its size and the limit', async () => {
    const files = {
      'index.js': "module.exports = require('./large.json');",
      'large.json': `"${'x'.repeat(26_000_000)}"`,
    };
    await chain.publish({ name: 'large', version: '1.0.0', files });
    const answer = await chain.importing('large');
    expect(refusedWith(answer)).toMatch(
      /^The component is 26\d{6} bytes when it is bundled; the limit maxBundleBytes is 25165824 bytes$/,
    );
    expect(answer.refused?.limit).toEqual({ name: 'maxBundleBytes', value: 25_165_824, used: expect.any(Number) });
  });
});

// fairness: Components that take as long to bundle as one may, again and again, in as many builds
// as a node does at a time.
describe('slow-builds', () => {
  const world = hostile();

  /** Enough imports to stop the bundler at its time limit. */
  const slow = (i: number) => Array.from({ length: 50_000 }, (_, k) => `import'p${i}-${k.toString(36)}';`).join('');
  const small = (i: number) => `export default { name: 'Small ${i}', version: '1', run() {} };`;

  it('the neighbour saves components beside them, not behind them', async () => {
    const { attacker, neighbour } = world;
    let over = 0;
    await world.unharmed(async () => {
      const flood = Array.from({ length: 2 }, async (_, i) => {
        const { status } = await attacker.api('POST', '/components', { component_code: slow(i) });
        over += 1;
        return status;
      });
      // Both begin at once, where both may.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const { status } = await neighbour.api('POST', '/components', { component_code: small(0) });
      expect(status).toBe(200);
      expect(over).toBe(0);
      expect(await Promise.all(flood)).toEqual([400, 400]);
    });
  });
});
