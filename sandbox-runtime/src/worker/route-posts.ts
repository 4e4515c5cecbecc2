import type { ExceededLimit } from '@headwater/shared';
import { FrameError } from '../bridge/frames.ts';
import { readLogHead } from '../bridge/log-head.ts';
import { AT_ONCE, type Content, type GuestCall, type GuestPost, type ToHost } from '../bridge/messages.ts';
import { readDataStoreCall, readEmitMeta, readFetchHead, readResponseHead } from '../bridge/read-heads.ts';
import { readCutNames, readExportName, readFlow, readSendKind } from '../bridge/read-step-heads.ts';
import type { ComponentIsolate } from './component-isolate.ts';
import { decodePost, type RawPost, runOf, guestTextOf } from './isolate-codec.ts';
import { passLogLine } from './log-lines.ts';
import type { ProcessRun } from './process-run.ts';

/** Answer to a read of a run that is over. */
const RUN_IS_OVER = 'ethe run is over';

type PostOf<Kind extends GuestPost['kind']> = Extract<GuestPost, { kind: Kind }>;

export interface PostRoutes {
  send(message: ToHost): void;
  done(isolate: ComponentIsolate, run: ProcessRun, result: string | undefined): void;
  failed(isolate: ComponentIsolate, run: ProcessRun, failure: string): void;
  overOutput(isolate: ComponentIsolate, run: ProcessRun, exceeded: ExceededLimit): void;
  /** The guest says what no guest says that is as it was made. */
  broken(isolate: ComponentIsolate, run: ProcessRun, breach: string): void;
  enter(isolate: ComponentIsolate, run: ProcessRun, call: GuestCall): void;
  webCrypto(isolate: ComponentIsolate, run: ProcessRun, post: PostOf<'web-crypto'>): void;
}

/**
 * Passes on a guest's posts, called in order for every emit and log line. It reads each post as the
 * host will, and an invalid one ends its run. The host would end the process, with all runs of the
 * account.
 */
export function routePost(routes: PostRoutes, isolate: ComponentIsolate, raw: RawPost): void {
  const run = isolate.find(runOf(raw));
  if (run === undefined || isolate.dead) return;
  try {
    route(routes, isolate, run, decodePost(raw, run.run));
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
  givenKey: unknown,
): Promise<string> {
  const run = isolate.find(runNumber);
  if (run === undefined || run.over || isolate.dead) return Promise.resolve(RUN_IS_OVER);
  try {
    const key = guestTextOf(givenKey);
    run.conduct.dbGet(key);
    const { call, answer } = run.openRead();
    routes.send({ kind: 'db-get', run: run.run, call, key });
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

function route(routes: PostRoutes, isolate: ComponentIsolate, run: ProcessRun, post: GuestPost): void {
  switch (post.kind) {
    case 'timer-set':
      return setTimer(routes, isolate, run, post);
    case 'timer-ref':
      return holdTimer(run, post);
    case 'timer-clear':
      return run.clearTimer(post.timer);
    case 'fetch-abort':
      if (run.fetches.delete(post.call)) routes.send(post);
      return;
    default: {
      // Output of a run that is over is ignored.
      if (run.over) return;
      const exceeded = routeOutput(routes, isolate, run, post);
      if (exceeded !== undefined) routes.overOutput(isolate, run, exceeded);
    }
  }
}

type Output = Exclude<GuestPost, PostOf<'timer-set' | 'timer-ref' | 'timer-clear' | 'fetch-abort'>>;
/** By the `$` of a step. */
type StepOutput = PostOf<'step-export' | 'step-send' | 'step-flow' | 'step-respond' | 'step-props'>;

/** Answers the limit of the run that was gone over. */
function routeOutput(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  post: Output,
): ExceededLimit | undefined {
  const { budget, conduct } = run;
  switch (post.kind) {
    case 'emit':
      conduct.emit(readEmitMeta(post.meta));
      return relay(routes, post, budget.takeEmit(heldBytes(post.event), heldBytes(post.meta)));
    case 'log': {
      const head = readLogHead(post.head);
      if (head === undefined) throw new FrameError('A log line with an invalid head');
      return passLogLine(routes.send, run, { ...head, message: post.message });
    }
    case 'respond':
      readResponseHead(post.head);
      conduct.respond();
      return relay(routes, post, budget.takeBytes(heldBytes(post.body)));
    case 'db-set':
      conduct.dbSet();
      return relay(routes, post, budget.takeStored(post.key, post.value));
    case 'fetch': {
      const { method, url } = readFetchHead(post.head);
      conduct.fetch(post.call, sentBytes(post.body ?? ''));
      run.fetches.set(post.call, `${method} ${url}`);
      return relay(routes, post, undefined);
    }
    case 'data-store': {
      const { call, head, value: valueJson } = post;
      const read = readDataStoreCall(head);
      conduct.dataStore(call, valueJson === undefined ? read : { ...read, valueJson });
      return relay(routes, post, undefined);
    }
    case 'web-crypto':
      routes.webCrypto(isolate, run, post);
      return undefined;
    case 'failed':
      routes.failed(isolate, run, post.failure);
      return undefined;
    case 'done':
      return routeDone(routes, isolate, run, post.result);
    default:
      return routeStepOutput(routes, run, post);
  }
}

/** A long JSON text is not read here: the host fails the step for it. */
function routeStepOutput(
  routes: PostRoutes,
  { budget, conduct }: ProcessRun,
  post: StepOutput,
): ExceededLimit | undefined {
  switch (post.kind) {
    case 'step-export':
      conduct.stepValue(post.value);
      return relay(routes, post, budget.takeExport(readExportName(post.name), post.value));
    case 'step-send':
      readSendKind(post.means);
      conduct.stepValue(post.payload);
      return relay(routes, post, budget.takeSend(heldBytes(post.payload)));
    case 'step-flow':
      conduct.stepFlow(readFlow(post.action, post.context));
      return relay(routes, post, budget.takeBytes(heldBytes(post.action) + heldBytes(post.context ?? '')));
    case 'step-respond':
      readResponseHead(post.head);
      conduct.stepRespond();
      return relay(routes, post, budget.takeBytes(heldBytes(post.body)));
    case 'step-props':
      readCutNames(post.cut);
      conduct.stepProps(post.props);
      return relay(routes, post, undefined);
  }
}

function relay(
  routes: PostRoutes,
  post: Extract<Output, ToHost>,
  exceeded: ExceededLimit | undefined,
): ExceededLimit | undefined {
  if (exceeded === undefined) routes.send(post);
  return exceeded;
}

function routeDone(
  routes: PostRoutes,
  isolate: ComponentIsolate,
  run: ProcessRun,
  result: string | undefined,
): ExceededLimit | undefined {
  if (run.ending !== undefined) throw new FrameError('A run that ends a second time');
  run.conduct.done(result);
  const exceeded = result === undefined ? undefined : run.budget.takeResult(heldBytes(result));
  if (exceeded === undefined) routes.done(isolate, run, result);
  return exceeded;
}

function holdTimer(run: ProcessRun, { timer, isRef }: PostOf<'timer-ref'>): void {
  const open = run.timers.get(timer);
  if (open !== undefined) open.kind = !isRef ? 'unref' : open.repeats ? 'interval' : 'timer';
}

function setTimer(routes: PostRoutes, isolate: ComponentIsolate, run: ProcessRun, post: PostOf<'timer-set'>): void {
  if (run.over) return;
  const { timer, delayMs, timerKind: kind } = post;
  run.clearTimer(timer);
  const { maxTimersPerRun: value } = run.guestLimits.limits;
  const used = run.timers.size + 1;
  // The isolate has counted them before.
  if (used > value) return routes.overOutput(isolate, run, { name: 'maxTimersPerRun', value, used });
  const fire = (): void => {
    run.timers.delete(timer);
    routes.enter(isolate, run, { kind: 'timer', timer });
  };
  const repeats = kind !== 'timer';
  if (delayMs === AT_ONCE) {
    const immediate = setImmediate(fire);
    run.timers.set(timer, { stop: () => clearImmediate(immediate), kind, repeats });
  } else {
    const timeout = setTimeout(fire, delayMs);
    run.timers.set(timer, { stop: () => clearTimeout(timeout), kind, repeats });
  }
}

/** In UTF-8; of bytes all of the buffer that they are a part of, which came with them. */
function heldBytes(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.buffer.byteLength;
}

/** As a part of a frame. */
function sentBytes(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
}
