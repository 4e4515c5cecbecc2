import type { ExceededLimit } from '@headwater/shared';
import { FrameError } from '../bridge/frames.ts';
import type { SandboxReporter } from '../bridge/frames-to-host.ts';
import { CALL, POST } from '../bridge/isolate-codes.ts';
import { readLogHead } from '../bridge/log-head.ts';
import { readDataStoreCall, readEmitMeta, readFetchHead, readResponseHead } from '../bridge/read-heads.ts';
import type { ComponentIsolate } from './component-isolate.ts';
import { passLogLine } from './log-lines.ts';
import { postBytesOf, callOf, postContentOf, jsonOf, numberOf, optionalOf, partBytes, textOf } from './post-values.ts';
import type { ProcessRun } from './process-run.ts';
import { isStepPost, routeStepPost } from './route-step-posts.ts';

const AT_ONCE = -1;
const MAX_DELAY_MS = 2 ** 31 - 1;
/** What a read is answered of a run that is over. */
const RUN_IS_OVER = 'ethe run is over';

export interface PostRoutes {
  reporter: SandboxReporter;
  /** The guest says that the run ended well. */
  done(isolate: ComponentIsolate, run: ProcessRun, result: string | undefined): void;
  /** The guest says that it failed: JSON of message, stack and limit. */
  failed(isolate: ComponentIsolate, run: ProcessRun, failure: string): void;
  overOutput(isolate: ComponentIsolate, run: ProcessRun, exceeded: ExceededLimit): void;
  /** The guest says what no guest says that is as it was made. */
  broken(isolate: ComponentIsolate, run: ProcessRun, breach: string): void;
  enter(isolate: ComponentIsolate, run: ProcessRun, kind: number, a: number): void;
  webCrypto(isolate: ComponentIsolate, run: ProcessRun, call: number, head: string, bytes: Uint8Array): void;
}

/**
 * Passes on what a guest posts. Called for every emit and log line, in the order they were made.
 * The guest writes with built-ins that its component may have changed: all is read here as the host
 * will read it, and what is not sound ends the run that says it. The host would end the process
 * with all runs of the account.
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
  try {
    routeSound(routes, isolate, run, kind, a, b, c);
  } catch (error) {
    endBroken(routes, isolate, run, error);
  }
}

/**
 * A read of `$.service.db`, which the isolate waits for: resolves with `v` + JSON, `u` or `e` +
 * message; never rejects.
 */
export function routeRead(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  runNumber: unknown,
  key: unknown,
): Promise<string> {
  const run = isolate.find(runNumber);
  if (run === undefined || run.over || isolate.dead) return Promise.resolve(RUN_IS_OVER);
  try {
    const name = textOf(key);
    run.conduct.dbGet(name);
    const { call, answer } = run.openRead();
    routes.reporter.dbGet(run.run, call, name);
    return answer;
  } catch (error) {
    endBroken(routes, isolate, run, error);
    return Promise.resolve(RUN_IS_OVER);
  }
}

function endBroken(routes: PostRoutes, isolate: ComponentIsolate, run: ProcessRun, error: unknown): void {
  if (!(error instanceof FrameError)) throw error;
  routes.broken(isolate, run, error.message);
}

function routeSound(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  kind: unknown,
  a: unknown,
  b: unknown,
  c: unknown,
): void {
  switch (kind) {
    case POST.timerSet:
      return setTimer(routes, isolate, run, numberOf(a), numberOf(b), c);
    case POST.timerRef:
      return holdTimer(run, numberOf(a), b === 1);
    case POST.timerClear:
      return run.clearTimer(numberOf(a));
    case POST.fetchAbort: {
      const call = callOf(a);
      if (run.fetches.delete(call)) routes.reporter.fetchAbort(run.run, call);
      return;
    }
    default: {
      // What an ended run still puts out counts for nothing.
      if (run.over) return;
      const exceeded = routeOutput(routes, isolate, run, kind, a, b, c);
      if (exceeded !== undefined) routes.overOutput(isolate, run, exceeded);
    }
  }
}

/** Answers the limit of the run that was gone over. */
function routeOutput(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  kind: unknown,
  a: unknown,
  b: unknown,
  c: unknown,
): ExceededLimit | undefined {
  const { reporter } = routes;
  switch (kind) {
    case POST.emit:
      return routeEmit(reporter, run, jsonOf(a), textOf(b));
    case POST.log:
      return routeLog(reporter, run, textOf(a), textOf(b));
    case POST.respond:
      return routeRespond(reporter, run, textOf(a), postContentOf(b));
    case POST.dbSet:
      return routeDbSet(reporter, run, textOf(a), jsonOf(b));
    case POST.fetch:
      return routeFetch(reporter, run, callOf(a), textOf(b), optionalOf(c, postContentOf));
    case POST.webCrypto:
      if (!(c instanceof Uint8Array)) throw new FrameError('A call of crypto.subtle without bytes');
      routes.webCrypto(isolate, run, callOf(a), textOf(b), c);
      return undefined;
    case POST.dataStore:
      return routeStoreCall(reporter, run, callOf(a), textOf(b), optionalOf(c, textOf));
    case POST.done:
      return routeDone(routes, isolate, run, optionalOf(a, textOf));
    case POST.failed:
      routes.failed(isolate, run, textOf(a));
      return undefined;
    default:
      if (isStepPost(kind)) return routeStepPost(reporter, run, kind, textOf(a), b, c);
      throw new FrameError('A post of no kind');
  }
}

function routeEmit(reporter: SandboxReporter, run: ProcessRun, data: string, meta: string): ExceededLimit | undefined {
  run.conduct.emit(readEmitMeta(meta));
  const exceeded = run.budget.takeEmit(postBytesOf(data), postBytesOf(meta));
  if (exceeded === undefined) reporter.emit(run.run, data, meta);
  return exceeded;
}

function routeLog(
  reporter: SandboxReporter,
  run: ProcessRun,
  head: string,
  message: string,
): ExceededLimit | undefined {
  const read = readLogHead(head);
  if (read === undefined) throw new FrameError('A log line with a head that is none');
  return passLogLine(reporter, run, { ...read, message });
}

function routeRespond(
  reporter: SandboxReporter,
  run: ProcessRun,
  head: string,
  body: string | Uint8Array,
): ExceededLimit | undefined {
  readResponseHead(head);
  run.conduct.respond();
  const exceeded = run.budget.takeBytes(postBytesOf(body));
  if (exceeded === undefined) reporter.respond(run.run, head, body);
  return exceeded;
}

function routeDbSet(reporter: SandboxReporter, run: ProcessRun, key: string, json: string): ExceededLimit | undefined {
  run.conduct.dbSet();
  const exceeded = run.budget.takeStored(key, json);
  if (exceeded === undefined) reporter.dbSet(run.run, key, json);
  return exceeded;
}

function routeFetch(
  reporter: SandboxReporter,
  run: ProcessRun,
  call: number,
  head: string,
  body: string | Uint8Array | undefined,
): undefined {
  const { method, url } = readFetchHead(head);
  run.conduct.fetch(call, partBytes(body ?? ''));
  run.fetches.set(call, `${method} ${url}`);
  reporter.fetch(run.run, call, head, body);
}

function routeStoreCall(
  reporter: SandboxReporter,
  run: ProcessRun,
  call: number,
  head: string,
  valueJson: string | undefined,
): undefined {
  const read = readDataStoreCall(head);
  run.conduct.dataStore(call, valueJson === undefined ? read : { ...read, valueJson });
  reporter.dataStore(run.run, call, head, valueJson);
}

function routeDone(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  result: string | undefined,
): ExceededLimit | undefined {
  if (run.ending !== undefined) throw new FrameError('A run that ends a second time');
  run.conduct.done(result);
  const exceeded = result === undefined ? undefined : run.budget.takeResult(postBytesOf(result));
  if (exceeded === undefined) routes.done(isolate, run, result);
  return exceeded;
}

function holdTimer(run: ProcessRun, id: number, holds: boolean): void {
  const timer = run.timers.get(id);
  if (timer !== undefined) timer.kind = !holds ? 'unref' : timer.repeats ? 'interval' : 'timer';
}

function setTimer(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  id: number,
  delayMs: number,
  given: unknown,
): void {
  if (run.over) return;
  if (delayMs !== AT_ONCE && !(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) throw new FrameError('A timer of no time');
  run.clearTimer(id);
  const { maxTimersPerRun: value } = run.guestLimits.limits;
  const used = run.timers.size + 1;
  // The isolate has counted them before.
  if (used > value) return routes.overOutput(isolate, run, { name: 'maxTimersPerRun', value, used });
  const fire = (): void => {
    run.timers.delete(id);
    routes.enter(isolate, run, CALL.timer, id);
  };
  const kind = given === 'interval' || given === 'unref' ? given : 'timer';
  const repeats = kind !== 'timer';
  if (delayMs === AT_ONCE) {
    const immediate = setImmediate(fire);
    run.timers.set(id, { stop: () => clearImmediate(immediate), kind, repeats });
  } else {
    const timeout = setTimeout(fire, delayMs);
    run.timers.set(id, { stop: () => clearTimeout(timeout), kind, repeats });
  }
}
