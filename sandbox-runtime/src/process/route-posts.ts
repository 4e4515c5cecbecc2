import type { ExceededLimit } from '@headwater/shared';
import type { SandboxReporter } from '../protocol/guest-to-host.ts';
import { CALL, POST } from '../protocol/isolate-calls.ts';
import { readLogHead } from '../protocol/log-head.ts';
import type { ComponentIsolate } from './component-isolate.ts';
import { passLogLine } from './log-lines.ts';
import type { ProcessRun } from './process-run.ts';
import { bytesOf, isContent, routeStepPost } from './route-step-posts.ts';

const AT_ONCE = -1;

export interface PostRoutes {
  reporter: SandboxReporter;
  /** The guest says that the run ended well. */
  done(isolate: ComponentIsolate, run: ProcessRun, result: string | undefined): void;
  /** The guest says that it failed: JSON of message, stack and limit. */
  failed(isolate: ComponentIsolate, run: ProcessRun, failure: string): void;
  overOutput(isolate: ComponentIsolate, run: ProcessRun, exceeded: ExceededLimit): void;
  enter(isolate: ComponentIsolate, run: ProcessRun, kind: number, a: number): void;
  webCrypto(isolate: ComponentIsolate, run: ProcessRun, call: number, head: string, bytes: Uint8Array): void;
}

/**
 * Passes on what a guest posts. Called for every emit and log line, in the order they were made. Types are checked here and
 * not trusted: should guest code ever get hold of the bridge, it gets no further than its own run's output.
 */
export function routePost(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  kind: unknown,
  runNumber: unknown,
  a: unknown,
  b: unknown,
  c: unknown,
): void {
  const run = isolate.find(runNumber);
  if (run === undefined || isolate.dead) return;
  switch (kind) {
    case POST.timerSet:
      return setTimer(routes, isolate, run, Number(a), Number(b));
    case POST.timerClear:
      return run.clearTimer(Number(a));
    case POST.fetchAbort:
      if (run.fetches.delete(Number(a))) routes.reporter.fetchAbort(run.run, Number(a));
      return;
    default:
      // What an ended run still puts out counts for nothing.
      if (!run.over) routeOutput(routes, isolate, run, kind, a, b, c);
  }
}

function routeOutput(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  kind: unknown,
  a: unknown,
  b: unknown,
  c: unknown,
): void {
  const { reporter } = routes;
  let exceeded: ExceededLimit | undefined;
  switch (kind) {
    case POST.emit:
      if (typeof a !== 'string' || typeof b !== 'string') return;
      exceeded = run.budget.takeEmit(bytesOf(a), bytesOf(b));
      if (exceeded === undefined) reporter.emit(run.run, a, b);
      break;
    case POST.log:
      exceeded = routeLog(reporter, run, a, b);
      break;
    case POST.respond:
      if (typeof a !== 'string' || !isContent(b)) return;
      exceeded = run.budget.takeBytes(bytesOf(b));
      if (exceeded === undefined) reporter.respond(run.run, a, b);
      break;
    case POST.dbSet:
      if (typeof a !== 'string' || typeof b !== 'string') return;
      exceeded = run.budget.takeStored(a, b);
      if (exceeded === undefined) reporter.dbSet(run.run, a, b);
      break;
    case POST.fetch:
      if (typeof a !== 'number' || typeof b !== 'string') return;
      run.fetches.add(a);
      return reporter.fetch(run.run, a, b, isContent(c) ? c : undefined);
    case POST.webCrypto:
      if (typeof a === 'number' && typeof b === 'string' && c instanceof Uint8Array)
        routes.webCrypto(isolate, run, a, b, c);
      return;
    case POST.dataStore:
      if (typeof a !== 'number' || typeof b !== 'string') return;
      run.storeCalls.add(a);
      return reporter.dataStore(run.run, a, b, typeof c === 'string' ? c : undefined);
    case POST.stepExport:
    case POST.stepSend:
    case POST.stepFlow:
    case POST.stepRespond:
      exceeded = routeStepPost(reporter, run, kind, a, b, c);
      break;
    case POST.done:
      if (typeof a === 'string') exceeded = run.budget.takeResult(bytesOf(a));
      if (exceeded === undefined) return routes.done(isolate, run, typeof a === 'string' ? a : undefined);
      break;
    case POST.failed:
      return routes.failed(isolate, run, typeof a === 'string' ? a : '');
  }
  if (exceeded !== undefined) routes.overOutput(isolate, run, exceeded);
}

function routeLog(
  reporter: SandboxReporter,
  run: ProcessRun,
  head: unknown,
  message: unknown,
): ExceededLimit | undefined {
  if (typeof head !== 'string' || typeof message !== 'string') return undefined;
  const read = readLogHead(head);
  return read === undefined ? undefined : passLogLine(reporter, run, { ...read, message });
}

function setTimer(routes: PostRoutes, isolate: ComponentIsolate, run: ProcessRun, id: number, delayMs: number): void {
  if (run.over) return;
  run.clearTimer(id);
  const { maxTimersPerRun: value } = run.guestLimits.limits;
  const used = run.timers.size + 1;
  // The isolate has counted them before.
  if (used > value) return routes.overOutput(isolate, run, { name: 'maxTimersPerRun', value, used });
  const fire = (): void => {
    run.timers.delete(id);
    routes.enter(isolate, run, CALL.timer, id);
  };
  if (delayMs === AT_ONCE) {
    const immediate = setImmediate(fire);
    run.timers.set(id, () => clearImmediate(immediate));
  } else {
    const timeout = setTimeout(fire, delayMs);
    run.timers.set(id, () => clearTimeout(timeout));
  }
}
