import path from 'node:path';
import { createBuilder, startSandbox } from '@headwater/sandbox-runtime';
import { readConfig } from '../../../api/src/config.ts';
import type { Undo } from '../../../bench/src/undo.ts';
import { bundleText } from '../bundle-relative.ts';
import { classifyFailure } from '../classify-failure.ts';
import { forEachOf } from '../for-each-of.ts';
import { createPackageVersions } from '../package-versions.ts';
import type { Failure } from '../save-components.ts';
import { runInNode } from './run-in-node.ts';
import { runInSandbox } from './run-in-sandbox.ts';
import { wrapComponent } from './wrap-component.ts';

export interface RanComponents {
  /** Components that completed in Node.js against the mock, after at least one HTTP request. */
  total: number;
  /** Components that also completed in the sandbox. */
  completed: number;
  failed: Failure[];
  /** Components for which the mock is no mock of their API: they fail in Node.js as well. */
  unanswered: number;
  /** Components that made no request. */
  silent: number;
}

export interface RunOptions {
  folder: string;
  /** The saved components, relative to `folder`. */
  files: readonly string[];
  cacheDir: string;
  /** Runs at the same time. */
  concurrency: number;
  onProgress: (done: number, failed: number) => void;
}

const TENANT = 'o_compat';

/**
 * Runs each component once in Node.js. If it completes there, runs it once in the sandbox, with the
 * same bundle and mock.
 */
export async function runComponents(undo: Undo, options: RunOptions): Promise<RanComponents> {
  const root = path.resolve(options.folder);
  const versions = createPackageVersions(root);
  const builder = createBuilder({ cacheDir: options.cacheDir, environment: networkEnvironment() });
  undo.push(() => builder.stop());
  const sandbox = await startSandbox({});
  undo.push(() => sandbox.stop());
  const result: RanComponents = { total: 0, completed: 0, failed: [], unanswered: 0, silent: 0 };

  function fail(file: string, stage: string, message: string): void {
    result.total += 1;
    result.failed.push({ path: file, cause: `${stage}: ${classifyFailure(message)}`, message });
  }

  async function run(file: string): Promise<void> {
    const wrapped = await bundleText(root, wrapComponent(file), versions);
    if (!wrapped.ok) return fail(file, 'wrap', wrapped.message);
    const component = { entry: 'component.mjs', files: { 'component.mjs': wrapped.code } };
    const built = await builder.build({ tenantId: TENANT, component });
    if (!built.ok) return fail(file, 'build', built.errors[0]?.message ?? '');
    const inNode = await runInNode(built.bundle.code);
    if (inNode.requests === 0) result.silent += 1;
    else if (!inNode.ok) result.unanswered += 1;
    else {
      const { ok, message } = await runInSandbox(sandbox, built.bundle, file);
      if (!ok) return fail(file, 'run', message);
      result.total += 1;
      result.completed += 1;
    }
  }

  await forEachOf(options.files, options.concurrency, async (file, done) => {
    await run(file);
    options.onProgress(done(), result.failed.length);
  });
  result.failed.sort((a, b) => (a.path < b.path ? -1 : 1));
  return result;
}

/** How this machine reaches the registry, as the server reads it from its environment. */
function networkEnvironment(): Record<string, string> {
  const outcome = readConfig(process.env, []);
  return (outcome.ok && outcome.config.networkEnvironment) || {};
}
