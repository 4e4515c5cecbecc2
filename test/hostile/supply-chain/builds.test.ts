import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { hostileServer, residentBytes } from '../../support/hostile-server.ts';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

// builder: A megabyte of blank lines, which a search for the word export went through from each
// line anew.
describe('blank-lines', () => {
  const chain = supplyChain();

  it('is read once', async () => {
    expect(refusedWith(await chain.save('\n'.repeat(1_000_000)))).toContain('export');
  });
});

// limits: Eighty components at once by URLs that answer twelve megabytes in twelve kilobytes.
describe('code-at-a-url-without-bound', () => {
  const world = hostile();
  const MB = 2 ** 20;
  /** It was three gigabytes. */
  const MAX_GROWTH_BYTES = 500 * MB;

  const body = gzipSync(Buffer.concat([Buffer.from('//中\n'), Buffer.alloc(12 * MB - 20, 'a;')]));
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(body);
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => server.close());

  it('are refused with the limit, at no more memory than code may have', async () => {
    const { pid } = hostileServer();
    const { port } = server.address() as AddressInfo;
    const before = residentBytes(pid);
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, residentBytes(pid))), 20);
    const answers = await world.unharmed(() =>
      Promise.all(
        Array.from({ length: 80 }, () =>
          world.attacker.api('POST', '/components', { component_url: `http://127.0.0.1:${port}/c.mjs` }),
        ),
      ),
    );
    clearInterval(timer);
    const limits = answers.map(({ status, body: { limit } }) => [status, limit?.name, limit?.value]);
    expect([...new Set(limits.map((one) => one.join(' ')))]).toEqual(['400 maxComponentCodeBytes 1048576']);
    expect(most - before).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

// builder: A kilobyte of constants that the bundler folds into a string of exabytes.
describe('constant-folding', () => {
  const chain = supplyChain();
  const members = Array.from({ length: 60 }, (_, i) => `a${i + 1} = a${i} + a${i}`).join(', ');

  it('ends at the memory of its process, or at its time on a full machine', async () => {
    const code = `enum Bomb { a0 = 'xxxxxxxxxxxxxxxx', ${members} } export default Bomb.a60;`;
    expect(refusedWith(await chain.save(code))).toMatch(/or takes more than 1024 MB of memory|took longer than 10 s/);
  });
});

// limits: Code at the top level of a component that never ends, or never settles, while it is
// saved.
describe('endless-top-level', () => {
  const chain = supplyChain();
  const component = "export default { name: 'x', version: '1', run() {} };";

  // A loop is in ../cpu/loop-while-loading.test.ts too.
  it.each(
    sampleCases(
      [
        ['a chain of microtasks', `await (async () => { for (;;) await 0; })();\n${component}`],
        ['a loop', `for (;;);\n${component}`],
      ] as const,
      2,
    ),
  )('with %s is refused at a limit of loading, and others are saved', async (_, code) => {
    const saved = await chain.save(code);
    // On a busy machine the time is over before that much of it was the component's.
    const name = saved.refused?.limit?.name === 'describeWallMs' ? 'describeWallMs' : 'describeCpuMs';
    expect(saved.refused?.limit).toEqual({ name, value: LIMITS[name], used: expect.any(Number) });
    expect(saved.refused?.limit?.used).toBeGreaterThanOrEqual(LIMITS[name]);
    expect(refusedWith(saved)).toContain(`the limit ${name} is`);
  });

  it('with an endless await is refused as soon as nothing is left that could settle it', async () => {
    const saved = await chain.save(`await new Promise(() => {});\n${component}`);
    expect(saved.refused?.limit).toBeUndefined();
    expect(refusedWith(saved)).toBe(
      'The component failed to load: The component did not finish loading: a top-level await was never settled',
    );
  });
});

// builder: A megabyte of nesting, which overflows the bundler's stack and used to end the bundler
// of the whole node.
describe('nested-source', () => {
  const chain = supplyChain();

  it.each([
    ['parentheses', '('.repeat(1_000_000)],
    ['calls', `export default a${'()'.repeat(500_000)}`],
    ['labels', `${'a:'.repeat(500_000)}1`],
  ])('%s is refused, and the next component is bundled', async (_, code) => {
    // On a full machine its time ends first.
    expect(refusedWith(await chain.save(code))).toMatch(
      /cannot be bundled: it (?:is nested too deeply|took longer than)/,
    );
  });
});
