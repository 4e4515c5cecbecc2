import { describe, expect, it } from 'vitest';
import { findKoffi } from '../../../sandbox-runtime/src/syscall-filter/find-koffi.ts';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { outliveForgedRun } from '../../support/hostile-process.ts';
import { residentBytes } from '../../support/hostile-server.ts';
import { supplyChain } from '../../support/hostile-supply-chain.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// process: Formatters of Intl, whose memory is neither in the heap nor counted by it.
describe('formatters-of-intl', () => {
  const world = hostile({ ownAccounts: true });

  it('the memory that they take is bounded by CPU time, and the run ends at that limit', async () => {
    await world.limit({ memoryMb: 32, runCpuMs: 800 });
    const ran = await world.unharmed(() =>
      world.attack(
        `const kept = []; for (;;) kept.push(new Intl.DateTimeFormat('de', { timeZone: 'Europe/Berlin' }));`,
      ),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 800 } });
    expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(800);
  });
});

// isolate: An error whose message is a quarter of a gigabyte.
describe('giant-error-message', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `throw new Error(\`\${'x'.repeat(2 ** 28)}\${Math.random()}\`.replaceAll('x', 'yz'));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// bridge: A component whose description is made of 30 megabytes while it is loaded.
describe('giant-export', () => {
  const world = hostile({ ownAccounts: true });

  it('is refused with what is too large, and its process goes on', async () => {
    const { refused } = await world.unharmed(() =>
      world.attack(`
export default { name: 'Giant', version: '1', description: 'x'.repeat(30e6), run() {} };`),
    );
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused)).toContain('the limit maxOutlineChars is 1 048 576 characters');
  });
});

// isolate: A log line of a quarter of a gigabyte.
describe('giant-log-line', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(world, `for (;;) console.log('%s %j', 'x'.repeat(2 ** 28), ['y'.repeat(2 ** 28)]);`);
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// bridge: A return value of a hundred megabytes, and one that never ends.
describe('giant-return-value', () => {
  const world = hostile({ ownAccounts: true });

  it('is never looked at', async () => {
    const { events } = await world.unharmed(async () => {
      const { id, ...source } = await world.attacker.deploy(`
      export default { name: 'Returns', version: '1', run({ endless }) {
        this.$emit('ran');
        if (!endless) return 'x'.repeat(100e6);
        return new Proxy([], { get: (_, key) => (key === 'then' ? undefined : endless), ownKeys() { for (;;); } });
      } };`);
      expect(source.endpoint).toBe('');
      expect((await world.run(id, { endless: false })).error).toBeUndefined();
      const last = await world.run(id, { endless: true });
      expect(last.error).toBeUndefined();
      return last;
    });
    expect(events).toEqual(['ran', 'ran']);
  });
});

// isolate: Source text of 40 megabytes, given to the constructor of functions.
describe('giant-source-text', () => {
  const world = hostile({ ownAccounts: true });

  it('is not read at all: no code is made of text', async () => {
    await world.limit({ memoryMb: 32, runCpuMs: 500 });
    const ran = await world.unharmed(() => world.attack(`new Function('[' + '[1],'.repeat(1e7) + ']')();`));
    // Neither of the two limits was met.
    expect(ran.error).toMatchObject({
      code: 'COMPONENT_ERROR',
      message: 'EvalError: Code generation from strings disallowed for this context',
      limit: null,
    });
  });
});

// limits: Dozens of sources whose code is sixteen megabytes each, one run after the other and then
// all at once.
describe('large-code-of-many-sources', () => {
  const chain = supplyChain();
  const SOURCES = longRun(6, 16);
  const CODE_BYTES = 16_000_000;
  /**
   * Three quarters of the code size of all sources. Other attacks use memory of the server at the
   * same time.
   */
  const MAX_GROWTH_BYTES = SOURCES * CODE_BYTES * 0.75;

  it('is in the memory of the node once, and the neighbour is served', async () => {
    const { attacker, server } = chain.world;
    const files = {
      'index.js': "module.exports = require('./large.json');",
      'large.json': `"${'x'.repeat(CODE_BYTES)}"`,
    };
    await chain.publish({ name: 'sixteen', version: '1.0.0', files });
    const code = `import large from 'sixteen';
    export default { name: 'Large', version: '1', run() { this.$emit(large.length); } };`;
    const saved = await attacker.api('POST', '/components', { component_code: code });
    expect(saved.status).toBe(200);
    const sources: string[] = [];
    for (let i = 0; i < SOURCES; i++) {
      const made = await attacker.api('POST', '/sources', { component_id: saved.body.data.id });
      expect(made.status).toBe(200);
      sources.push(made.body.data.id);
    }
    const before = residentBytes(server.pid);
    await chain.world.unharmed(async () => {
      for (const id of sources) expect((await chain.world.run(id)).events).toContain(CODE_BYTES);
      const started = await Promise.all(sources.map((id) => attacker.api('POST', `/sources/${id}/run`, {})));
      expect(started.map(({ status }) => status)).toEqual(sources.map(() => 200));
      await chain.world.untilIdle();
    });
    expect(residentBytes(server.pid) - before).toBeLessThan(MAX_GROWTH_BYTES);
  });
});

// process: Native code in a process that reads a byte of every 2 MB of terabytes: none of it is
// resident, but the page tables are.
describe('page-tables', () => {
  const world = hostile({ ownAccounts: true });
  const koffiPath = findKoffi();
  const isX64 = process.arch === 'x64';

  const MAX_MEMORY_MB = 200;
  /** Some seconds to make them, more on a full machine. */
  const WITHIN_MS = 20_000;
  /**
   * Each table maps 2 MB and takes 4 KB. Together they take half as much again as the process may
   * use. The attack stops there if it is not stopped before.
   */
  const TABLES = (1.5 * MAX_MEMORY_MB * 2 ** 20) / 4_096;

  const ATTACK = `
const koffi = { exports: {} };
process.dlopen(koffi, ${JSON.stringify(koffiPath)});
const libc = koffi.exports.load(null);
const mmap = libc.func('long mmap(long at, long length, int access, int flags, int file, long offset)');
const madvise = libc.func('int madvise(long at, long length, int advice)');
const PRIVATE = 2, ANONYMOUS = 0x20, NORESERVE = 0x4000, NO_HUGE_PAGES = 15, POPULATE_READ = 22;
const PAGE_TABLE = 2 ** 21;
const at = mmap(0, ${TABLES} * PAGE_TABLE, 1, PRIVATE | ANONYMOUS | NORESERVE, -1, 0);
madvise(at, ${TABLES} * PAGE_TABLE, NO_HUGE_PAGES);
let made = 0;
const fill = () => {
  for (const end = made + 2_000; made < end && made < ${TABLES}; made++) madvise(at + made * PAGE_TABLE, 4_096, POPULATE_READ);
  if (made < ${TABLES}) setImmediate(fill);
};
channel.on('data', (piece) => { if (piece[4] === 8) send(PONG, 0); });
function attack() { send(OUTCOME, 1, '[1,1]'); setTimeout(fill, 500); }
`;

  it.runIf(koffiPath !== undefined && isX64)('is ended for its memory as if it were resident', async () => {
    expect(await world.unharmed(() => outliveForgedRun(ATTACK, MAX_MEMORY_MB, WITHIN_MS))).toEqual(['ended']);
  });
});

// isolate: Regular expressions of megabytes, compiled and kept.
describe('regexp-source', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of CPU time, long before they have filled the memory', async () => {
    await world.limit({ memoryMb: 32, runCpuMs: 500 });
    const ran = await world.unharmed(() =>
      world.attack(`
const kept = [];
for (let i = 0; ; i++) {
  const pattern = new RegExp('(?:' + ('a' + i + '|').repeat(1e5) + ')');
  pattern.test('b');
  kept.push(pattern);
}`),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
    expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(500);
  });
});

// isolate: A text that doubles, and is made flat each time.
describe('string-doubling', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `let text = 'x';
for (;;) {
  text += text;
  text.charCodeAt(1);
  if (text.length > 2 ** 27) globalThis.kept = [...(globalThis.kept ?? []), text.slice(1) + 'y'], (text = 'x');
}`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});
