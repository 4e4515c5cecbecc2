// builder: A build process that has been taken over and answers what no bundler and no fetcher answers.
import { expect, it } from 'vitest';
import {
  bundleAlone,
  bundleWithPackages,
  findMissingFiles,
} from '../../../sandbox-runtime/src/builder/build-component.ts';
import { failedBuild } from '../../../sandbox-runtime/src/builder/build-outcome.ts';
import type { BuildLimits } from '../../../sandbox-runtime/src/builder/packages/build-order.ts';
import { createTaskPool } from '../../../sandbox-runtime/src/builder/task-pool.ts';
import { createStarter } from '../../../sandbox-runtime/src/starter/starter.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

const world = hostile();

const limits = { bundleMs: 20_000, buildMs: 20_000, maxBundleMemoryMb: 1, maxMemoryMb: 1 } as BuildLimits;
const component = { entry: 'component.mjs', files: { 'component.mjs': '' } };
const packageBuild = { component, entryLoader: 'js' as const, packages: ['one'], registry: 'http://127.0.0.1/' };

const ANSWERS: unknown[] = [
  null,
  1,
  'bundled',
  [],
  {},
  { kind: 'bundled' },
  { kind: 'bundled', sourceMap: { toString: 1 } },
  { kind: 'bundled', sourceMap: '\0' },
  { kind: 'needs-packages' },
  { kind: 'needs-packages', packages: [], entryLoader: 'js' },
  { kind: 'needs-packages', packages: [null], entryLoader: 'js' },
  { kind: 'needs-packages', packages: ['one'], entryLoader: 'exe' },
  { kind: 'needs-packages', packages: Array(1_001).fill('one'), entryLoader: 'js' },
  { kind: 'needs-packages', packages: ['o'.repeat(1_025)], entryLoader: 'js' },
  { kind: 'failed', errors: [] },
  { kind: 'failed', errors: Array.from({ length: 1_001 }, () => ({ path: 'component_code', message: 'one' })) },
  {
    kind: 'failed',
    errors: [{ path: 'component_code', message: 'one' }],
    limit: { name: 'memoryMb', value: 1, used: 2 },
  },
  { kind: 'failed', errors: [null] },
  { kind: 'failed', errors: [{ path: 'component_code', message: {} }] },
  { kind: 'failed', errors: [{ path: 'component_code', message: 'one', line: 'one' }] },
  { ok: false },
  { ok: false, errors: [{ path: 'component_code', message: 'one' }], isLost: 'lost' },
  { ok: false, errors: 'all' },
  { ok: true, sourceMap: '{}' },
  { ok: true, sourceMap: '{}', dependencies: { one: { version: 1 } } },
  { ok: true, sourceMap: '{}', dependencies: { one: '\0' } },
  { ok: true, sourceMap: 1, dependencies: {} },
  [null],
  [{ path: './one', importer: 'component.mjs' }],
  [{ path: './one', importer: 'component.mjs', candidates: Array(1_000).fill('one') }],
  Array.from({ length: 1_000 }, () => ({ path: './one', importer: 'component.mjs', candidates: [] })),
];

/** Asked for a bundle, a process answers this; asked to fetch packages, that it has them. */
const forger = (answer: unknown) => `
import { Socket } from 'node:net';
const channel = new Socket({ fd: 3 });
const frame = (text) => { const head = Buffer.alloc(8); head.writeUInt32BE(Buffer.byteLength(text)); return Buffer.concat([head, Buffer.from(text)]); };
let asked = Buffer.alloc(0);
channel.on('data', (piece) => {
  asked = Buffer.concat([asked, piece]);
  if (asked.length < 8 || asked.length < 8 + asked.readUInt32BE(0) + asked.readUInt32BE(4)) return;
  const { kind } = JSON.parse(asked.subarray(8, 8 + asked.readUInt32BE(0)).toString());
  channel.write(frame(kind === undefined ? '{"ok":true,"bytes":0}' : ${JSON.stringify(JSON.stringify(answer))}));
});`;

it('is taken for one that broke down, whatever it was asked for', async () => {
  const starter = await createStarter();
  const { signal } = new AbortController();
  const logged: string[] = [];
  try {
    await world.unharmed(async () => {
      for (const answer of sampleCases(ANSWERS, 3)) {
        const start = async () => ({
          command: { program: process.execPath, args: ['--input-type=module', '-'] },
          script: forger(answer),
          environment: {},
          starter,
        });
        const pool = createTaskPool({ start, maxTasks: 1, signal });
        const processes = { plain: pool, trees: pool, fetching: pool, stop: () => pool.stop() };
        const log = (_level: string, _message: string, { stderr }: Record<string, unknown>) =>
          void logged.push(String(stderr));
        const context = { processes, limits, cacheDir: '', downloaded: () => undefined, log };
        const isList = Array.isArray(answer) && answer.length === 0;
        const [plain, tree, missing] = await Promise.all([
          bundleAlone(context, 'o_one', component),
          bundleWithPackages(context, 'o_one', packageBuild),
          findMissingFiles(context, 'o_one', component),
        ]);
        pool.stop();
        const what = JSON.stringify(answer).slice(0, 100);
        expect([what, plain]).toMatchObject([what, { kind: 'failed', errors: [{ path: 'component_code' }] }]);
        expect([what, tree]).toMatchObject([what, { ok: false, errors: [{ path: 'component_code' }] }]);
        expect([what, missing]).toEqual([what, []]);
        const said = logged.splice(0);
        expect([what, said.length]).toEqual([what, isList ? 2 : 3]);
        expect(new Set(said)).toEqual(new Set(['The process answered what is no answer']));
      }
    });
  } finally {
    await starter.stop();
  }
});

it('is not taken for a bundle where it says that there is none', () => {
  const errors = [{ path: 'component_code', message: 'none' }];
  const answer = { kind: 'failed', errors, ok: true, bundle: { code: '', sourceMap: '{}', hash: 'of another' } };
  expect(failedBuild(answer)).toEqual({ ok: false, errors });
});
