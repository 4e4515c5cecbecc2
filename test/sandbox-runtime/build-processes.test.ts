import type { BuildOutcome } from '@headwater/sandbox-runtime';
import { readFileSync, readlinkSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  type BuildPrefixes,
  describeBuildLayers,
  findBuildConfinement,
} from '../../sandbox-runtime/src/confinement/build-prefix.ts';
import { bundleAlone } from '../../sandbox-runtime/src/builder/build-component.ts';
import { makeBundle } from '../../sandbox-runtime/src/builder/bundle-component.ts';
import type { BuildLimits } from '../../sandbox-runtime/src/builder/packages/build-order.ts';
import type { TaskEnd } from '../../sandbox-runtime/src/builder/task-process.ts';
import { createTaskPool, type TaskPool } from '../../sandbox-runtime/src/builder/task-pool.ts';
import { encodeFrame, TaskFrameReader } from '../../sandbox-runtime/src/builder/task-frames.ts';
import { createStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import { buildKitForFile, oneFile } from '../support/build-kit.ts';
import { childProcesses } from '../support/child-processes.ts';
import { eventually } from '../support/eventually.ts';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';

const kit = buildKitForFile();
const isLinux = process.platform === 'linux';
const component = oneFile("export default { name: 'x' };");

/** The processes of builds that were started for this process. */
const buildProcesses = () => childProcesses(process.pid, 'hw-build').map(({ pid }) => pid);

test.skipIf(!isLinux)(
  'bundles strangers’ code with an empty environment, limits, and no network where that is possible',
  async () => {
    expect((await kit.builder().build({ tenantId: 'o_one', component })).ok).toBe(true);
    const [pid] = buildProcesses();
    expect(pid).toBeDefined();
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/HEADWATER|PATH|HOME|DATABASE/);
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    expect(limits).toMatch(/^Max data size +1073741824 /m);
    expect(limits).toMatch(/^Max cpu time +120 /m);
    expect(limits).toMatch(/^Max file size +0 /m);
    const hasOwnNetwork = readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync('/proc/self/ns/net');
    expect(hasOwnNetwork).toBe((await findBuildConfinement({ network: false })).prefix.includes('--net'));
  },
);

test.skipIf(!isLinux)('bundles the code of another tenant in another process, and leaves none behind', async () => {
  const builder = kit.builder({ bundleMs: 9_000 });
  await builder.build({ tenantId: 'o_one', component });
  // A process is not used again after a build of seconds, as on a busy machine.
  const before = await eventually(async () => {
    const pids = buildProcesses();
    await builder.build({ tenantId: 'o_one', component });
    return isDeepStrictEqual(buildProcesses(), pids) && pids;
  });
  await builder.build({ tenantId: 'o_two', component });
  expect(buildProcesses().filter((pid) => !before.includes(pid))).toHaveLength(1);
  await builder.stop();
  await kit.builder().stop();
  await eventually(() => buildProcesses().length === 0);
});

test('a build that takes too long ends at its limit, and one whose process breaks down at once is lost', async () => {
  const builder = kit.builder({ bundleMs: 1 });
  const outcome = await builder.build({ tenantId: 'o_one', component });
  expect(outcome).toMatchObject({
    ok: false,
    errors: [{ path: 'component_code', message: 'The code cannot be bundled: it took longer than 0.001 s' }],
  });
  const starter = await createStarter();
  let started = 0;
  const pool = createTaskPool({
    start: async () => {
      started += 1;
      return {
        command: { program: '/bin/sh', args: ['-c', 'exec 3>&-; exit 7'] },
        script: '',
        environment: {},
        starter,
      };
    },
    maxTasks: 10,
    signal: new AbortController().signal,
  });
  // The process was new: nothing but this task can have ended it.
  const task = { value: {}, timeoutMs: 5_000, isAnswer: (answer: unknown) => answer === 1 };
  expect(await pool.run('o_one', task)).toMatchObject({ kind: 'lost', cause: 'exit' });
  expect(started).toBe(1);
  await starter.stop();
});

test('frames are put together from any pieces, and one beyond the bound is refused', () => {
  const bytes = Buffer.concat([encodeFrame({ one: 1 }), encodeFrame('two', 'long'), encodeFrame([])]);
  const reader = new TaskFrameReader({ maxJsonBytes: 100, maxTextBytes: 4 });
  const pieces = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  const frames = pieces.flatMap((piece) => reader.push(piece));
  expect(frames.map(({ value, text }) => [value, text.toString()])).toEqual([
    [{ one: 1 }, ''],
    ['two', 'long'],
    [[], ''],
  ]);
  const bounded = () => new TaskFrameReader({ maxJsonBytes: 3, maxTextBytes: 4 });
  expect(() => bounded().push(encodeFrame('abc'))).toThrow('a frame of 5 bytes');
  expect(() => bounded().push(encodeFrame(1, 'abcdef'))).toThrow('a frame of 6 bytes');
  expect(() => bounded().push(Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 120]))).toThrow('not JSON');
});

test('a bundle as large as they come, or larger, takes little of the node’s thread', async () => {
  const builder = kit.builder({ bundleMs: 60_000 });
  const turnOf = async (chars: number) => {
    const code = `const enum Long { A = '${'\\n'.repeat(chars)}' } export default [${'Long.A,'.repeat(20_000)}];`;
    let outcome: BuildOutcome | undefined;
    const turnMs = await longestTurnMs(async () => {
      outcome = await builder.build({ tenantId: 'o_one', component: { entry: 'long.ts', files: { 'long.ts': code } } });
      // The turn in which it is answered counts.
      await new Promise((resolve) => setTimeout(resolve, 10));
    });
    return { turnMs, outcome };
  };
  await builder.build({ tenantId: 'o_one', component });
  const large = await turnOf(550);
  expect(large.outcome).toMatchObject({ ok: true });
  const larger = await turnOf(1_200);
  const message = expect.stringMatching(
    /^The component is 48\d{6} bytes .*; the limit maxBundleBytes is 25165824 bytes$/,
  );
  const limit = { name: 'maxBundleBytes', value: 25_165_824 };
  expect(larger.outcome).toMatchObject({ ok: false, errors: [{ path: 'component_code', message }], limit });
  // As members of JSON: 160 and 330 ms.
  expect(large.turnMs / slowness()).toBeLessThan(100);
  expect(larger.turnMs / slowness()).toBeLessThan(100);
});

test('the list of missing files ends at one more than a component may have', async () => {
  const builder = kit.builder({ bundleMs: 60_000 });
  const entry = `${'folder/'.repeat(300)}component.mjs`;
  const code = Array.from({ length: 500 }, (_, index) => `import './missing-${index}';`).join('\n');
  const missing = await builder.listMissingFiles('o_one', { entry, files: { [entry]: code } });
  expect(missing).toHaveLength(101);
  expect(missing.every(({ candidates }) => candidates.length > 1)).toBe(true);
  const long = { entry, files: { [entry]: `import './${'long'.repeat(1_000)}';` } };
  expect(await builder.listMissingFiles('o_one', long)).toMatchObject([{ candidates: [] }]);
});

test('no file of this machine is read to find those that are missing', async () => {
  const builder = kit.builder({ bundleMs: 60_000 });
  // An endless file: reading it would use up all memory.
  const code = `import './missing.js'; export default (name) => import('./dev/' + name + 'ero');`;
  const missing = await builder.listMissingFiles('o_one', { entry: 'a.js', files: { 'a.js': code } });
  expect(missing.map(({ path }) => path)).toEqual(['./missing.js']);
});

test('the hash of a bundle is computed outside the process that made the bundle', async () => {
  const bundle = { code: 'export default 1;', sourceMap: '{}', hash: 'that of another' };
  const answer = { kind: 'bundled', sourceMap: bundle.sourceMap, hash: bundle.hash, bundle };
  const end: TaskEnd = { kind: 'answered', answer, text: Buffer.from(bundle.code) };
  const pool: TaskPool = { run: async <Answer>() => end as TaskEnd<Answer>, stop: () => undefined };
  const processes = { plain: pool, fetching: pool, trees: pool, stop: () => undefined };
  const limits = { bundleMs: 1_000, maxBundleMemoryMb: 1 } as BuildLimits;
  const nothing = () => undefined;
  const context = { processes, limits, cacheDir: '', downloaded: nothing, log: nothing };
  const outcome = await bundleAlone(context, 'o_one', component);
  expect(outcome).toEqual({ kind: 'bundled', bundle: makeBundle(bundle.code, bundle.sourceMap) });
});

test('each missing layer of the bundler is named with the reason', () => {
  const none = { priority: [], network: [], processes: [], privileges: [] };
  const missing = (found: typeof none | BuildPrefixes, isUnprivileged: boolean) =>
    describeBuildLayers(found, isUnprivileged).flatMap(({ layer, active, note }) => (active ? [] : [[layer, note]]));
  expect(missing(none, false)).toEqual([
    ['network', 'unshare is missing or not permitted'],
    ['processes', 'unshare is missing or not permitted'],
    ['privileges', 'setpriv is missing'],
    ['priority', 'nice is missing'],
  ]);
  const all = { priority: ['nice'], network: ['unshare'], processes: ['unshare'], privileges: ['setpriv'] };
  expect(missing(all, true)).toEqual([]);
  // `setpriv` works, but dropped no privilege.
  expect(missing(all, false)).toEqual([['privileges', expect.stringContaining('CAP_SETPCAP')]]);
});
