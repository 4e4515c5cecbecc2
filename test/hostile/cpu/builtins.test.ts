import { describe, expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';
import { ECHO } from '../../support/workflow-steps.ts';

// process: A BigInt of 300 million bits, as decimal text, in one builtin that cannot be
// interrupted.
describe('bigint-as-text', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, '(1n << 300000000n).toString();');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Products of BigInts that grow for as long as they are let.
describe('bigint-powers', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `let product = 3n;
for (;;) product = product.toString().length > 1e5 ? 3n : product * product;`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Brotli at its hardest, on data that does not compress.
describe('brotli', () => {
  const world = hostile();

  it("the time of the process around the isolate is counted as the run's", async () => {
    const ran = await attackCpu(
      world,
      `const { brotliCompressSync } = process.getBuiltinModule('zlib');
const { randomBytes } = process.getBuiltinModule('crypto');
const data = Buffer.concat(Array.from({ length: 100 }, () => randomBytes(60_000)));
for (;;) brotliCompressSync(data);`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Deflate at its hardest, on megabytes of two letters.
describe('deflate', () => {
  const world = hostile();

  it("the time of the process around the isolate is counted as the run's, and it answers all along", async () => {
    await world.limit({ runCpuMs: 1_500 });
    const ran = await world.unharmed(() =>
      world.attack(
        `const { deflateSync } = process.getBuiltinModule('zlib');
const data = new Uint8Array(10_000_000);
for (let i = 0, x = 1; i < data.length; i++) {
  x ^= x << 13; x ^= x >>> 17; x ^= x << 5;
  data[i] = 97 + (x & 1);
}
for (;;) deflateSync(data, { level: 9 });`,
        { timeoutMs: 60_000 },
      ),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 1_500 } });
  });
});

// limits: zstd at level 22, with a window of a gigabyte asked for.
describe('zstd', () => {
  const world = hostile();

  it("the time of the process around the isolate is counted as the run's", async () => {
    const ran = await attackCpu(
      world,
      `const { zstdCompressSync, constants } = process.getBuiltinModule('zlib');
const data = Buffer.from(Array.from({ length: 3e5 }, (_, index) => \`\${index * 7919}\`).join());
const params = { [constants.ZSTD_c_compressionLevel]: 22, [constants.ZSTD_c_windowLog]: 30 };
for (;;) zstdCompressSync(data, { params });`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// process: A builtin that walks over 2^53 elements and hears no one: neither a timeout nor the end
// of its isolate.
describe('includes-over-2-53-elements', () => {
  const world = hostile();

  it('its process is ended, and other runs in it run again', async () => {
    await world.limit({ runCpuMs: 300 });
    const [burnt, other] = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`export default { name: 'Other', version: '1', async run() {
      await new Promise((resolve) => setTimeout(resolve, 700));
      this.$emit('fine');
    } };`);
      return Promise.all([
        world.attack(`this.$emit('before'); await null; Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);`),
        world.run(id),
      ]);
    });
    expect(burnt.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
    expect(burnt.events).toEqual(['before']);
    expect(other.error).toBeUndefined();
    expect(other.events).toEqual(['fine']);
  });
});

// limits: Parsing and writing JSON again and again.
describe('json-loops', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `const text = JSON.stringify(Array.from({ length: 1e5 }, (_, index) => ({ index })));
for (;;) JSON.stringify(JSON.parse(text));`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Random numbers in a loop.
describe('random-numbers', () => {
  const world = hostile();

  it("the time of the process around the isolate is counted as the run's", async () => {
    const ran = await attackCpu(world, 'for (;;) crypto.randomUUID();');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A regular expression that backtracks for hours, on 40 characters of input.
describe('regex-backtracking', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, `/^(a+)+$/.test('a'.repeat(40) + 'b');`);
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Builtins of text on long text: repeat, replace, normalize, localeCompare, Intl.
describe('string-builtins', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `const text = 'ä\\u0301b'.repeat(1e5);
const collator = new Intl.Collator('de');
for (;;) collator.compare(text.normalize('NFD').replaceAll('b', 'c').toLocaleUpperCase('tr'), text.padEnd(5e5, 'x'));`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Sorting a million numbers again and again, with a comparison that is never content.
describe('typed-array-sorts', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `const numbers = new Float64Array(1e6);
for (;;) numbers.map(() => Math.random()).sort((a, b) => (a < b ? 1 : -1));`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: URLs of 100 000 characters, parsed again and again by the process around the isolate.
describe('url-parsing', () => {
  const world = hostile();

  it("the time of that process is counted as the run's", async () => {
    const ran = await attackCpu(world, `for (;;) new URL('http://example.com/' + 'ä'.repeat(1e5));`);
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Expressions of a workflow with a regular expression of hundreds of groups of the same
// name, a thousand levels deep: ten minutes each.
describe('groups-of-one-name', () => {
  const world = hostile();

  const DEPTH = 1_180;
  const GROUPS = 357;

  it('are refused at once', async () => {
    const groups = `${'('.repeat(DEPTH)}${Array(GROUPS).fill('(?<a>)').join('|')}${')'.repeat(DEPTH)}`;
    const props = { text: `{{/${groups}|${groups}/}}` };
    await world.unharmed(async () => {
      const { status, text } = await world.attacker.api('POST', '/workflows', {
        name: 'Groups',
        steps: [{ namespace: 'one', component_code: ECHO, props }],
      });
      expect([status, text]).toEqual([400, expect.stringContaining('Duplicate capture group name')]);
    });
  });
});
