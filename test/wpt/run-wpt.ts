import { bundleComponent, type ComponentBundle, type Sandbox, startSandbox } from '@headwater/sandbox-runtime';
import { accountLimits } from '../../shared/src/index.ts';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { recordingHost } from '../support/run-host.ts';
import { findAreas, LEFT_OUT, type WptArea } from './areas.ts';
import { PAGE_COMPONENT } from './page-component.ts';
import { readTests, type WptTest } from './read-test.ts';

/*
 * npm run wpt -- <folder of a web-platform-tests checkout> [--area streams] [--file part-of-a-path]
 * [--failures] [--json]
 *
 * Runs the `.any.js` files of the areas in isolates, with the sandbox of components. No server is
 * needed: the checkout's files answer requests.
 */

const PAGE_TIMEOUT_MS = 40_000;
const LIMITS = {
  cpuMs: 90_000,
  wallMs: 90_000,
  wallLimit: 'timerRunWallMs',
  memoryMb: 512,
  account: accountLimits(),
} as const;
/** Status of a test of testharness.js. */
const PASS = 0;

interface Outcome {
  passed: number;
  total: number;
  files: number;
  failures: { path: string; test: string; message: string }[];
}

type Result = [name: string, status: number, message: string];

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      area: { type: 'string' },
      file: { type: 'string' },
      failures: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [checkout] = positionals;
  if (checkout === undefined) throw new Error('Usage: npm run wpt -- <folder of a web-platform-tests checkout>');
  const built = await bundleComponent(PAGE_COMPONENT);
  if (!built.ok) throw new Error(`The page does not bundle: ${JSON.stringify(built.errors)}`);
  const sandbox = await startSandbox({ maxIsolates: 2 });
  const report: Record<string, Outcome> = {};
  try {
    for (const area of findAreas(values.area)) {
      const outcome = await runArea(sandbox, built.bundle, checkout, area, values.file);
      report[area.name] = outcome;
      if (!values.json) printArea(area.name, outcome, values.failures);
    }
  } finally {
    await sandbox.stop();
  }
  if (values.json) console.log(JSON.stringify(report));
  else printArea('all', sum(Object.values(report)), false);
}

async function runArea(
  sandbox: Sandbox,
  bundle: ComponentBundle,
  checkout: string,
  area: WptArea,
  part: string | undefined,
): Promise<Outcome> {
  const outcome: Outcome = { passed: 0, total: 0, files: 0, failures: [] };
  for (const path of listFiles(checkout, area)) {
    if (part !== undefined && !path.includes(part)) continue;
    outcome.files += 1;
    for (const page of readTests(checkout, path)) {
      for (const [test, status, message] of await runPage(sandbox, bundle, checkout, page)) {
        if (LEFT_OUT.test(test)) continue;
        outcome.total += 1;
        if (status === PASS) outcome.passed += 1;
        else outcome.failures.push({ path: path + page.search, test, message });
      }
    }
  }
  return outcome;
}

function listFiles(checkout: string, area: WptArea): string[] {
  const patterns = area.folders.map((folder) => `${folder}/**/*.any.js`);
  return globSync(patterns, { cwd: checkout })
    .filter((path) => !area.skip.some((part) => path.includes(part)))
    .sort();
}

let lastPage = 0;

async function runPage(sandbox: Sandbox, bundle: ComponentBundle, checkout: string, page: WptTest): Promise<Result[]> {
  lastPage += 1;
  const host = recordingHost({
    fetch: (request) => Promise.resolve(answerFile(checkout, request.url)),
  });
  const outcome = await sandbox.run(
    {
      tenantId: 'o_wpt',
      isolateKey: `dc_wpt${lastPage}:1`,
      runId: `inv_wpt${lastPage}`,
      entry: { kind: 'run', event: JSON.stringify({ ...page, timeoutMs: PAGE_TIMEOUT_MS }) },
      props: {},
      alone: false,
      bundle,
      limits: LIMITS,
    },
    host,
  );
  const results = (host.data() as Result[][]).flat();
  if (!outcome.ok) results.push([`${page.path} ends`, 1, outcome.fault.message]);
  return results;
}

function answerFile(checkout: string, url: string): ReturnType<typeof answer> {
  const { pathname } = new URL(url);
  try {
    return answer(url, 200, readFileSync(join(checkout, pathname)));
  } catch {
    // As a server would: the test then reports the missing file.
    return answer(url, 404, Buffer.alloc(0));
  }
}

function answer(url: string, status: number, body: Uint8Array) {
  const headers: [string, string][] = url.endsWith('.json') ? [['content-type', 'application/json']] : [];
  return { ok: true as const, status, statusText: '', headers, url, redirected: false, body: new Uint8Array(body) };
}

function sum(outcomes: readonly Outcome[]): Outcome {
  const total: Outcome = { passed: 0, total: 0, files: 0, failures: [] };
  for (const outcome of outcomes) {
    total.passed += outcome.passed;
    total.total += outcome.total;
    total.files += outcome.files;
  }
  return total;
}

function printArea(name: string, outcome: Outcome, withFailures: boolean): void {
  const { passed, total, files } = outcome;
  // Rounded down: 100 % is all of them.
  const share = total === 0 ? '-' : `${(Math.floor((1000 * passed) / total) / 10).toFixed(1)} %`;
  console.log(
    `${name.padEnd(20)} ${String(passed).padStart(6)} of ${String(total).padStart(6)}  ${share.padStart(8)}  ${files} files`,
  );
  if (!withFailures) return;
  for (const { path, test, message } of outcome.failures) console.log(`  ${path}: ${test}\n      ${message}`);
}

await main();
