import { expect, test } from 'vitest';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

const BURNT_MS = 600;
/** Half of the time that the thread waited for CPU counts, and the last moment is unknown. */
const LEAST_MS = BURNT_MS / 2 - 100;
const BURN = `const end = Date.now() + ${BURNT_MS}; while (Date.now() < end) for (let i = 0; i < 1e5; i++);`;

const ends: [title: string, body: string][] = [
  ['arrays without end', `const kept = []; for (;;) kept.push(new Array(1e5).fill(1.5));`],
  [
    'a copy of a large array after another',
    `const kept = [Array.from({ length: 1e6 }, (_, i) => i)]; for (;;) kept.push([...kept[0]]);`,
  ],
  ['JSON of four million lists', `JSON.parse('[' + '[],'.repeat(4e6) + '[]]');`],
];
test.each(ends)(
  'a run that ends by %s is told with the processor time it has used',
  async (_title, body) => {
    const { outcome } = await sandbox.run(withRun(BURN + body), { memoryMb: 64, cpuMs: 60_000, wallMs: 60_000 });
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'MEMORY_LIMIT', limit: { name: 'memoryMb' } } });
    expect(outcome.cpuMs).toBeGreaterThan(LEAST_MS);
  },
  120_000,
);
