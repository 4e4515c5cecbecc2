import { LIMITS } from '@headwater/shared';
import type ivm from 'isolated-vm';
import { limitFault } from '../bridge/exceeded-limit.ts';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import type { GuestCall, GuestPost, RunOrder, StartSettings, ToHost, ToSandbox } from '../bridge/messages.ts';
import { answerWebCrypto } from './ask-web-crypto.ts';
import { ComponentIsolate, type RunPlace } from './component-isolate.ts';
import { CpuClock } from './cpu-clock.ts';
import { type Fault, faultForOtherRuns, readFailure, roomLimitOf } from './fault.ts';
import { type LoadedBundle, LoadError } from './guest-isolate.ts';
import { IsolateCache } from './isolate-cache.ts';
import { isOutline } from './isolate-codec.ts';
import { ownLine, passLogLine } from './log-lines.ts';
import { blameForTimeout } from './blame-for-timeout.ts';
import { describeOpenWork, isIntervalsOnly, hasNoOpenWork } from './open-work.ts';
import { type Asked, ProcessRun, type EncodedLimits } from './process-run.ts';
import { readThrown } from './read-thrown.ts';
import { type PostRoutes, routePost, routeRead } from './route-posts.ts';
import { SpareIsolates } from './spare-isolates.ts';
import { watchIsolates } from './watch-isolates.ts';

/**
 * How long a disposed isolate may take to give its thread back before the whole process is given
 * up: longer where the process has hardly had a processor meanwhile, as those that compute for long
 * have the least right to one.
 */
const DISPOSE_MS = 500;
const DISPOSE_CPU_NS = 100e6;
const MAX_DISPOSE_MS = 5_000;

/**
 * A sandbox process from the inside: takes orders, keeps isolates warm, enforces CPU and wall
 * limits.
 */
export class SandboxWorker {
  readonly #send: (message: ToHost) => void;
  /** Limits for components that are only described. */
  readonly #defaultLimits: EncodedLimits;
  /** Limits for runs that are ordered from now on. */
  #limits: EncodedLimits;
  readonly #spares: SpareIsolates;
  readonly #bundles = new Map<string, LoadedBundle>();
  readonly #cache: IsolateCache;
  readonly #throwAway = new Set<ComponentIsolate>();
  readonly #routes: PostRoutes;
  readonly #clock = new CpuClock();
  readonly #watch: { wake(): void };

  constructor(settings: StartSettings, snapshot: ivm.ExternalCopy<ArrayBuffer>, send: (message: ToHost) => void) {
    this.#defaultLimits = { limits: settings.limits, text: JSON.stringify(settings.limits) };
    this.#limits = this.#defaultLimits;
    this.#send = send;
    this.#spares = new SpareIsolates({ snapshot, memoryMb: settings.spareMemoryMb });
    this.#cache = new IsolateCache({
      maxIsolates: settings.maxIsolates,
      maxHeapBytes: settings.maxWarmHeapMb * 2 ** 20,
    });
    this.#routes = {
      send,
      done: (isolate, run, result) => this.#done(isolate, run, result),
      failed: (isolate, run, failure) => this.#failed(isolate, run, readFailure(failure, isolate.memoryMb)),
      overOutput: (isolate, run, exceeded) => this.#end(isolate, run, limitFault(exceeded)),
      broken: (isolate, run, breach) => this.#broken(isolate, run, breach),
      enter: (isolate, run, call) => this.#enter(isolate, run, call),
      webCrypto: (isolate, run, post) => this.#webCrypto(isolate, run, post),
    };
    this.#watch = watchIsolates(() => [...this.#cache.all(), ...this.#throwAway], this.#clock, {
      overCpu: (isolate, run) => this.#overCpu(isolate, run),
      overWall: (isolate, run) => this.#overWall(isolate, run),
      outOfMemory: (isolate) => this.#outOfMemory(isolate),
      stuck: (isolate) =>
        this.#kill(isolate, { code: 'WALL_LIMIT', message: 'The component no longer answered' }, undefined),
      idle: () => this.#cache.shrink(),
    });
  }

  handle(message: ToSandbox): void {
    switch (message.kind) {
      case 'start':
        return;
      case 'bundle':
        this.#bundles.set(message.hash, { code: message.code, map: message.map, compiled: undefined });
        return;
      case 'drop-bundle':
        this.#bundles.delete(message.hash);
        return;
      case 'limits':
        this.#limits = { limits: JSON.parse(message.limits) as GuestLimits, text: message.limits };
        return;
      case 'run':
        return this.#run(message);
      case 'describe':
        return this.#describe(message);
      case 'db-value':
        return this.#find(message.run)?.run.settleRead(message.call, message.answer);
      case 'fetched':
        return this.#fetched(message);
      case 'store-answer':
        return this.#storeAnswered(message);
      case 'cancel':
        return this.#cancel(message.run);
      case 'ping':
        return this.#send({ kind: 'pong' });
    }
  }

  #run(order: RunOrder): void {
    const warm = this.#cache.get(order.isolateKey, order.bundleHash, order.limits.memoryMb);
    const isolate = warm ?? this.#create(order.isolateKey, order.bundleHash, order.limits.memoryMb);
    const run = this.#begin(isolate, order, this.#limits);
    const start = (): void => {
      if (run.over) return;
      this.#tellLimits(isolate, run);
      const { entry, dedupe = '', props, event } = order;
      this.#enter(isolate, run, { kind: 'start', entry, dedupe, props, event });
    };
    if (isolate.loaded) return start();
    if (isolate.served === 1) {
      this.#cache.add(isolate);
      isolate.ready = this.#load(isolate, run);
    }
    isolate.ready.then(start, (error: unknown) => this.#loadFailed(isolate, run, error));
  }

  #describe(order: Extract<ToSandbox, { kind: 'describe' }>): void {
    const isolate = this.#create('', order.bundleHash, order.limits.memoryMb);
    this.#throwAway.add(isolate);
    const run = this.#begin(isolate, { ...order, entry: 'load' }, this.#defaultLimits);
    const outline = async (): Promise<void> => {
      await this.#load(isolate, run);
      const text = await isolate.guest.call(run, { kind: 'outline' });
      if (run.over) return;
      if (!isOutline(text)) return this.#broken(isolate, run, 'The description of the component is malformed');
      this.#send({ kind: 'described', run: run.run, outline: text });
      this.#close(isolate, run);
    };
    outline()
      .catch((error: unknown) => this.#loadFailed(isolate, run, error))
      .finally(() => this.#throw(isolate));
  }

  #begin(isolate: ComponentIsolate, asked: Asked, guestLimits: EncodedLimits): ProcessRun {
    this.#watch.wake();
    const run = new ProcessRun(asked, guestLimits, this.#clock);
    isolate.runs.set(run.run, run);
    isolate.served += 1;
    return run;
  }

  #create(key: string, bundleHash: string, memoryMb: number): ComponentIsolate {
    const isolate: ComponentIsolate = new ComponentIsolate(
      key,
      bundleHash,
      memoryMb,
      this.#spares.take(memoryMb, {
        post: (raw) => routePost(this.#routes, isolate, raw),
        dbGet: (run, name) => routeRead(this.#routes, isolate, run, name),
        catastrophe: () => this.#catastrophe(isolate),
      }),
    );
    return isolate;
  }

  async #load(isolate: ComponentIsolate, run: ProcessRun): Promise<void> {
    const bundle = this.#bundles.get(isolate.bundleHash);
    if (bundle === undefined) throw new Error(`Bundle ${isolate.bundleHash} was never sent`);
    isolate.toldLimits = run.guestLimits.text;
    const rejected = await isolate.guest.load(bundle, run);
    isolate.loaded = true;
    if (rejected !== undefined) this.#logUnhandled(isolate, run, rejected.unhandled);
  }

  /** An account's limits may change while its isolates are warm. */
  #tellLimits(isolate: ComponentIsolate, run: ProcessRun): void {
    const { text } = run.guestLimits;
    if (isolate.toldLimits === text) return;
    isolate.toldLimits = text;
    this.#enter(isolate, run, { kind: 'limits', limits: text });
  }

  #loadFailed(isolate: ComponentIsolate, run: ProcessRun, error: unknown): void {
    if (isolate.guest.endedByItself) return this.#outOfMemory(isolate);
    const fault = readThrown(error instanceof LoadError ? error.cause : error);
    const limit = roomLimitOf(fault.message, isolate.memoryMb);
    this.#end(isolate, run, limit === undefined ? fault : { ...fault, ...limitFault(limit) });
    this.#throw(isolate);
  }

  /**
   * Calls into the isolate. It rejects if the isolate ends, or with an unhandled rejection of the
   * component.
   */
  #enter(isolate: ComponentIsolate, run: ProcessRun, call: GuestCall): void {
    if (isolate.dead) return;
    this.#follow(isolate, run, isolate.guest.call(run, call));
  }

  /** Until it is back: what the guest posted meanwhile was heard before. */
  #follow(isolate: ComponentIsolate, run: ProcessRun, entered: Promise<unknown>): void {
    run.entries += 1;
    const left = (): void => {
      run.entries -= 1;
      this.#endIfDone(isolate, run);
    };
    entered.then(left, (error: unknown) => {
      this.#callFailed(isolate, run, error);
      left();
    });
  }

  /** An unhandled rejection ends a run, as it ends a process of Node. */
  #callFailed(isolate: ComponentIsolate, run: ProcessRun, error: unknown): void {
    if (isolate.dead) return;
    if (isolate.guest.endedByItself) return this.#outOfMemory(isolate);
    if (run.over) return;
    const { message, ...fault } = readThrown(error);
    this.#end(isolate, run, { ...fault, message: `Unhandled rejection: ${message}` });
    this.#enter(isolate, run, { kind: 'end' });
  }

  #logUnhandled(isolate: ComponentIsolate, run: ProcessRun, error: unknown): void {
    const { message } = readThrown(error);
    const exceeded = passLogLine(this.#send, run, ownLine(run, `Unhandled rejection: ${message}`));
    if (exceeded !== undefined) this.#end(isolate, run, limitFault(exceeded));
  }

  #fetched(message: Extract<ToSandbox, { kind: 'fetched' }>): void {
    const found = this.#find(message.run);
    if (found === undefined || !found.run.fetches.has(message.call)) return;
    const { outcome } = message;
    // A request may take as long as its run. Its own timeout must not fail a run whose entry has
    // ended well. Other runs that wait for the same request still get the failure.
    if (!outcome.ok && found.run.isTimeUp()) this.#endWaiting(found.isolate, found.run);
    found.run.fetches.delete(message.call);
    const { body, ...head } = outcome.ok ? outcome : { ...outcome, body: new Uint8Array(0) };
    this.#enter(found.isolate, found.run, { kind: 'fetched', call: message.call, head: JSON.stringify(head), body });
  }

  #storeAnswered(message: Extract<ToSandbox, { kind: 'store-answer' }>): void {
    const found = this.#find(message.run);
    if (found === undefined || !found.run.conduct.storeAnswered(message.call)) return;
    const head = JSON.stringify(message.answer);
    this.#enter(found.isolate, found.run, { kind: 'answered', call: message.call, head, body: new Uint8Array(0) });
  }

  #webCrypto(
    isolate: ComponentIsolate,
    run: ProcessRun,
    { call, head, bytes }: Extract<GuestPost, { kind: 'web-crypto' }>,
  ): void {
    const size = head.length + bytes.buffer.byteLength;
    const exceeded = run.openCallsOver(size);
    if (exceeded !== undefined) return this.#end(isolate, run, limitFault(exceeded));
    const answer = run.workBeside(size, () => (run.over ? undefined : answerWebCrypto(head, bytes)));
    const answered = answer.then(async (given) => {
      if (given === undefined || isolate.dead) return;
      if (isolate.guest.cpuMsOf(run) > run.limits.cpuMs) return this.#overCpu(isolate, run);
      await isolate.guest.call(run, { kind: 'answered', call, head: given.head, body: given.bytes });
    });
    this.#follow(isolate, run, answered);
  }

  #done(isolate: ComponentIsolate, run: ProcessRun, result: string | undefined): void {
    run.ending = { result };
    this.#endIfDone(isolate, run);
  }

  /** Ends a run after a successful entry when its open work is done, as Node ends a process. */
  #endIfDone(isolate: ComponentIsolate, run: ProcessRun): void {
    if (run.ending === undefined || run.over || run.entries > 0) return;
    const open = run.openWork();
    if (hasNoOpenWork(open)) return this.#succeed(isolate, run, run.ending.result);
    run.waits = true;
    if (!isIntervalsOnly(open)) return run.endGrace();
    if (run.isGraceOver) return this.#endWaiting(isolate, run);
    run.grace ??= setTimeout(() => {
      run.isGraceOver = true;
      this.#endIfDone(isolate, run);
    }, LIMITS.intervalGraceMs);
  }

  /** Warns in the log about open work, because the run no longer waits for it. */
  #endWaiting(isolate: ComponentIsolate, run: ProcessRun): void {
    if (run.ending === undefined || run.over || isolate.dead) return;
    const line = ownLine(run, describeOpenWork(run.openWork()), 'warn');
    const exceeded = passLogLine(this.#send, run, line);
    if (exceeded !== undefined) return this.#end(isolate, run, limitFault(exceeded));
    this.#succeed(isolate, run, run.ending.result);
  }

  #succeed(isolate: ComponentIsolate, run: ProcessRun, result: string | undefined): void {
    const times = { cpuMs: isolate.guest.cpuMsOf(run), wallMs: run.wallMs() };
    const outcome = { ok: true, ...times, ...(result === undefined ? {} : { result }) } as const;
    this.#send({ kind: 'outcome', run: run.run, outcome });
    this.#close(isolate, run);
    if (run.waits) this.#enter(isolate, run, { kind: 'end' });
  }

  #failed(isolate: ComponentIsolate, run: ProcessRun, fault: Fault): void {
    // Buffers that earlier runs have kept: the next run would find as little room.
    if (fault.code === 'MEMORY_LIMIT') this.#cache.retire(isolate);
    this.#end(isolate, run, fault);
  }

  #broken(isolate: ComponentIsolate, run: ProcessRun, breach: string): void {
    // The component may have changed built-ins of its isolate, so the next run gets another
    // isolate.
    this.#cache.retire(isolate);
    this.#end(isolate, run, { code: 'COMPONENT_ERROR', message: `The output of the run is refused: ${breach}` });
  }

  #end(isolate: ComponentIsolate, run: ProcessRun, fault: Fault, innocent = false): void {
    if (run.over) return;
    const cpuMs = isolate.guest.cpuMsOf(run);
    const outcome = { ok: false, fault, innocent, cpuMs, wallMs: run.wallMs() } as const;
    this.#send({ kind: 'outcome', run: run.run, outcome });
    this.#close(isolate, run);
  }

  #close(isolate: ComponentIsolate, run: ProcessRun): void {
    run.over = true;
    run.endGrace();
    run.failReads();
    for (const ended of isolate.linger(run))
      for (const call of ended.fetches.keys()) this.#send({ kind: 'fetch-abort', run: ended.run, call });
  }

  #overCpu(isolate: ComponentIsolate, run: ProcessRun): void {
    const used = Math.ceil(isolate.guest.cpuMsOf(run));
    this.#kill(isolate, limitFault({ name: 'runCpuMs', value: run.limits.cpuMs, used }), run);
  }

  #overWall(isolate: ComponentIsolate, run: ProcessRun): void {
    if (run.ending !== undefined) return this.#endWaiting(isolate, run);
    const { fault, blame } = blameForTimeout(isolate, run);
    if (blame === 'isolate') return this.#kill(isolate, fault, run);
    this.#end(isolate, run, fault, blame === 'nobody');
    this.#enter(isolate, run, { kind: 'end' });
  }

  #cancel(number: number): void {
    const found = this.#find(number);
    if (found === undefined || found.run.over) return;
    const { isolate, run } = found;
    this.#end(isolate, run, { code: 'WALL_LIMIT', message: 'The run was cancelled' }, true);
    this.#enter(isolate, run, { kind: 'end' });
  }

  #outOfMemory(isolate: ComponentIsolate): void {
    // The heap is gone with its figures; V8 ends an isolate when the limit is reached.
    const fault = limitFault({ name: 'memoryMb', value: isolate.memoryMb, used: isolate.memoryMb });
    // Memory may have been filled by earlier runs of a warm isolate: only the first and only run of
    // one is surely guilty.
    const [sole] = isolate.runs.values();
    this.#kill(isolate, fault, isolate.served === 1 ? sole : undefined);
  }

  #catastrophe(isolate: ComponentIsolate): void {
    // Before the run's end is told, or the next run would be given to this process.
    this.#send({ kind: 'condemned' });
    this.#outOfMemory(isolate);
  }

  /**
   * Ends an isolate with everything that runs in it. Without a culprit all of them may be innocent.
   */
  #kill(isolate: ComponentIsolate, fault: Fault, culprit: ProcessRun | undefined): void {
    if (isolate.dead) return;
    for (const run of isolate.runs.values()) {
      if (run === culprit) this.#end(isolate, run, fault);
      else this.#end(isolate, run, faultForOtherRuns(fault), true);
    }
    this.#throw(isolate);
    this.#expectEnd(isolate, this.#clock.readNs(), performance.now() + MAX_DISPOSE_MS);
  }

  #expectEnd(isolate: ComponentIsolate, cpuNs: number, lastMs: number): void {
    setTimeout(() => {
      if (isolate.guest.openCalls === 0) return;
      const hadItsTurn = this.#clock.readNs() - cpuNs > DISPOSE_CPU_NS;
      if (hadItsTurn || performance.now() > lastMs) this.#send({ kind: 'condemned' });
      else this.#expectEnd(isolate, cpuNs, lastMs);
    }, DISPOSE_MS);
  }

  #throw(isolate: ComponentIsolate): void {
    isolate.dead = true;
    this.#cache.remove(isolate);
    this.#throwAway.delete(isolate);
    isolate.guest.dispose();
  }

  #find(number: number): RunPlace | undefined {
    for (const isolate of [...this.#cache.all(), ...this.#throwAway]) {
      const run = isolate.find(number);
      if (run !== undefined) return { isolate, run };
    }
    return undefined;
  }
}
