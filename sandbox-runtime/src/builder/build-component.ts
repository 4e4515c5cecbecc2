import { createGiveWay, type FieldError, HeadwaterError } from '@headwater/shared';
import { createHash } from 'node:crypto';
import type { ComponentBundle } from '../sandbox-types.ts';
import { type BuildOutcome, failedBuild } from './build-outcome.ts';
import type { BuildProcesses } from './build-processes.ts';
import type { PlainOutcome } from './bundle-component.ts';
import type { BundleTask } from './bundle-task.ts';
import type { ComponentFiles } from './component-files.ts';
import { areMissingFiles, isFetchAnswer, isPlainAnswer, isTreeAnswer } from './judge-task-answer.ts';
import type { MissingFile } from './list-missing-files.ts';
import type { BuildLimits, FetchOrder } from './packages/build-order.ts';
import type { TaskEnd } from './task-process.ts';

export interface BuildContext {
  processes: Pick<BuildProcesses, 'plain' | 'trees' | 'fetching'>;
  limits: BuildLimits;
  cacheDir: string;
  /** Called for each build with the bytes that it downloaded into the cache. */
  downloaded(bytes: number): void;
  log(level: 'info' | 'warn', message: string, fields: Record<string, unknown>): void;
}

interface PackageBuild {
  component: ComponentFiles;
  entryLoader: 'js' | 'ts';
  packages: string[];
  registry: string;
}

/** After its time limit, a process may still report the timeout and its cause. */
const GRACE_MS = 1_000;
/** Bytes: half a millisecond. */
const HASHED_AT_ONCE = 512 * 1024;
const MAX_NAMED_CHARS = 1_000;
const RETRY_AFTER_S = 10;
/** The reason comes first; what follows is stacks. */
const MAX_LOGGED_CHARS = 300;

/**
 * Bundles a component as far as it goes without packages. Throws UNAVAILABLE when the node stops.
 */
export async function bundleAlone(
  context: BuildContext,
  tenantId: string,
  component: ComponentFiles,
): Promise<PlainOutcome> {
  const { limits, processes } = context;
  const value: BundleTask = { kind: 'plain', component, maxBundleBytes: limits.maxBundleBytes };
  const end = await processes.plain.run(tenantId, { value, timeoutMs: limits.bundleMs, isAnswer: isPlainAnswer });
  if (end.kind === 'answered') {
    const { answer } = end;
    if (answer.kind !== 'bundled') return answer;
    const errors = storingErrors(end.text);
    if (errors.length > 0) return { kind: 'failed', errors };
    return { kind: 'bundled', bundle: await readBundle(end.text, answer.sourceMap) };
  }
  return {
    kind: 'failed',
    errors: lostErrors(context, end, 'The code cannot be bundled', limits.maxBundleMemoryMb, component.entry),
  };
}

/**
 * The bundler escapes NUL in strings, and leaves it in regular expressions and raw templates, as
 * packages have them.
 */
function storingErrors(code: Buffer): FieldError[] {
  if (!code.includes(0)) return [];
  return [{ path: 'component_code', message: 'The code with its packages contains a NUL character' }];
}

/**
 * The hash identifies code, also in processes of other accounts that deploy it. So the node
 * computes it, and does not trust a process that has read a stranger's code. Tens of megabytes take
 * tens of milliseconds, so the work yields to other work.
 */
async function readBundle(text: Buffer, sourceMap: string): Promise<ComponentBundle> {
  const giveWay = createGiveWay(0);
  const hash = createHash('sha256');
  for (let at = 0; at < text.length; at += HASHED_AT_ONCE) {
    await giveWay();
    hash.update(text.subarray(at, at + HASHED_AT_ONCE));
  }
  await giveWay();
  return { code: text.toString('utf8'), sourceMap, hash: hash.digest('hex') };
}

/** Empty for code that cannot be read: the bundler reports its errors. */
export async function findMissingFiles(
  context: BuildContext,
  tenantId: string,
  component: ComponentFiles,
): Promise<MissingFile[]> {
  const value: BundleTask = { kind: 'missing-files', component };
  const task = { value, timeoutMs: context.limits.bundleMs, isAnswer: areMissingFiles };
  const end = await context.processes.plain.run(tenantId, task);
  if (end.kind === 'answered') return end.answer;
  lostErrors(context, end, '', context.limits.maxBundleMemoryMb);
  return [];
}

/**
 * Fetches the packages and bundles the component with them, each in a process of its own. Once more
 * where the cache was cut down between the two, which is another build's doing. Throws UNAVAILABLE
 * also where the packages cannot be had at the moment, with the seconds after which it is worth
 * another try.
 */
export async function bundleWithPackages(
  context: BuildContext,
  tenantId: string,
  build: PackageBuild,
): Promise<BuildOutcome> {
  const first = await fetchAndBundle(context, tenantId, build);
  if (first.isLost !== true) return first;
  const second = await fetchAndBundle(context, tenantId, build);
  if (second.isLost === true) throw unavailable(context, 'the cache was cut down before they could be read');
  return second;
}

/** The operator's to know as well: it is the registry, or the disk of this node. */
function unavailable({ log }: BuildContext, reason: string): HeadwaterError {
  log('warn', 'The packages of a component cannot be had', { reason: reason.slice(0, MAX_LOGGED_CHARS) });
  const message = `The packages of the component cannot be had at the moment: ${reason}`;
  return new HeadwaterError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S });
}

async function fetchAndBundle(
  context: BuildContext,
  tenantId: string,
  { component, entryLoader, packages, registry }: PackageBuild,
): Promise<BuildOutcome & { isLost?: boolean }> {
  const { processes, limits, cacheDir } = context;
  const what = `Cannot resolve ${packages.map((name) => JSON.stringify(name)).join(', ')}`.slice(0, MAX_NAMED_CHARS);
  const order: FetchOrder = { packages, registry, cacheDir, limits };
  const fetched = await processes.fetching.run(tenantId, {
    value: order,
    timeoutMs: limits.buildMs + GRACE_MS,
    isAnswer: isFetchAnswer,
  });
  // After a crash or a forged answer, the amount downloaded is unknown. Count the maximum.
  const bytes = fetched.kind === 'lost' ? limits.maxDownloadBytes : fetched.answer.bytes;
  context.downloaded(Math.min(bytes, limits.maxDownloadBytes));
  if (fetched.kind === 'lost') return { ok: false, errors: lostErrors(context, fetched, what, limits.maxMemoryMb) };
  const result = fetched.answer;
  if (!result.ok) {
    if (result.mayPass === true) throw unavailable(context, result.reason);
    const message = `The packages cannot be used: ${result.reason}`;
    const errors: FieldError[] = [{ path: 'component_code', message }];
    return failedBuild({ errors, ...(result.limit === undefined ? {} : { limit: result.limit }) });
  }
  const value: BundleTask = { kind: 'tree', component, entryLoader, cacheDir, limits };
  const task = { value, text: fetched.text, timeoutMs: limits.buildMs, isAnswer: isTreeAnswer };
  const end = await processes.trees.run(tenantId, task);
  if (end.kind === 'lost') return { ok: false, errors: lostErrors(context, end, what, limits.maxMemoryMb) };
  const { answer } = end;
  if (!answer.ok) return { ...failedBuild(answer), ...(answer.isLost === true ? { isLost: true } : {}) };
  const errors = storingErrors(end.text);
  if (errors.length > 0) return { ok: false, errors };
  const { sourceMap, dependencies } = answer;
  return { ok: true, bundle: await readBundle(end.text, sourceMap), dependencies };
}

function lostErrors(
  { log }: BuildContext,
  end: Extract<TaskEnd, { kind: 'lost' }>,
  what: string,
  maxMemoryMb: number,
  file?: string,
): FieldError[] {
  if (end.cause === 'stop') throw new HeadwaterError('UNAVAILABLE', 'The build was ended because this node stops');
  // A limit of time is the author's to know; what else ends a process is for the operator as well.
  if (end.cause === 'exit')
    log('warn', 'A build process ended without a result', { stderr: end.stderr.slice(0, MAX_LOGGED_CHARS) });
  const reason =
    end.cause === 'time'
      ? `it took longer than ${end.timeoutMs / 1000} s`
      : `it is nested too deeply, or takes more than ${maxMemoryMb} MB of memory`;
  const error: FieldError = { path: 'component_code', message: `${what}: ${reason}` };
  return [file === undefined ? error : { ...error, file }];
}
