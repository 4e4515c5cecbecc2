// process: Native code in a process that reads a byte of every 2 MB of terabytes: none of it is resident, but the page tables are.
import { expect, it } from 'vitest';
import { findKoffi } from '../../../sandbox-runtime/src/syscall-filter/find-koffi.ts';
import { outliveForgedRun } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
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
