import type ivm from 'isolated-vm';
import type { SandboxFault, SandboxReporter } from '../protocol/guest-to-host.ts';
import type { RunOrder, StartSettings, ToSandbox } from '../protocol/host-to-guest.ts';
import { CALL } from '../protocol/isolate-calls.ts';
import { answerWebCrypto } from './ask-web-crypto.ts';
import { ComponentIsolate } from './component-isolate.ts';
import { type LoadedBundle, LoadError } from './guest-isolate.ts';
import { IsolateCache } from './isolate-cache.ts';
import { ProcessRun } from './process-run.ts';
import { readThrown } from './read-thrown.ts';
import { type PostRoutes, routePost } from './route-posts.ts';
import { SpareIsolates } from './spare-isolates.ts';
import { watchIsolates } from './watch-isolates.ts';

/** How long a disposed isolate may take to give its thread back before the whole process is given up. */
const DISPOSE_MS = 500;

interface Fault {
  code: SandboxFault;
  message: string;
  stack?: string;
}

/** A sandbox process from the inside: takes orders, keeps isolates warm, enforces CPU and wall limits. */
export class SandboxWorker {
  readonly #reporter: SandboxReporter;
  readonly #settings: StartSettings;
  readonly #spares: SpareIsolates;
  readonly #bundles = new Map<string, LoadedBundle>();
  readonly #cache: IsolateCache;
  readonly #throwAway = new Set<ComponentIsolate>();
  readonly #routes: PostRoutes;
  readonly #watch: { wake(): void };

  constructor(settings: StartSettings, snapshot: ivm.ExternalCopy<ArrayBuffer>, reporter: SandboxReporter) {
    this.#settings = settings;
    this.#reporter = reporter;
    this.#spares = new SpareIsolates({
      snapshot,
      memoryMb: settings.spareMemoryMb,
      limits: settings.limits,
    });
    this.#cache = new IsolateCache({
      maxIsolates: settings.maxIsolates,
      maxHeapBytes: settings.maxWarmHeapMb * 2 ** 20,
    });
    this.#routes = {
      reporter,
      ended: (isolate, run, failure) => this.#ended(isolate, run, failure),
      overOutput: (isolate, run) =>
        this.#end(isolate, run, { code: 'OUTPUT_LIMIT', message: 'The run put out more than its limit' }),
      enter: (isolate, run, kind, a) => this.#enter(isolate, run, kind, [a]),
      webCrypto: (isolate, run, call, head, bytes) => this.#webCrypto(isolate, run, call, head, bytes),
    };
    this.#watch = watchIsolates(() => [...this.#cache.all(), ...this.#throwAway], {
      overCpu: (isolate, run) => this.#overCpu(isolate, run),
      overWall: (isolate, run) => this.#overWall(isolate, run),
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
        this.#bundles.set(message.hash, { code: message.code, compiled: undefined });
        return;
      case 'drop-bundle':
        this.#bundles.delete(message.hash);
        return;
      case 'run':
        return this.#run(message);
      case 'describe':
        return this.#describe(message);
      case 'db-value':
        return this.#find(message.run)?.run.settleRead(message.call, message.answer);
      case 'fetched':
        return this.#fetched(message);
      case 'ping':
        return this.#reporter.pong();
    }
  }

  #run(order: RunOrder): void {
    const warm = this.#cache.get(order.isolateKey, order.bundleHash);
    const isolate = warm ?? this.#create(order.isolateKey, order.bundleHash, order.limits.memoryMb);
    const run = this.#begin(isolate, order.run, order.limits);
    const start = (): void => {
      if (run.over) return;
      this.#enter(isolate, run, CALL.start, [order.hook ?? '', order.dedupe ?? '', order.props, order.event]);
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
    const run = this.#begin(isolate, order.run, order.limits);
    const outline = async (): Promise<void> => {
      await this.#load(isolate, run);
      const text = await isolate.guest.call(run, CALL.outline);
      if (run.over || text === undefined) return;
      this.#reporter.described(run.run, text);
      this.#close(isolate, run);
    };
    outline()
      .catch((error: unknown) => this.#loadFailed(isolate, run, error))
      .finally(() => this.#throw(isolate));
  }

  #begin(isolate: ComponentIsolate, number: number, limits: RunOrder['limits']): ProcessRun {
    const run = new ProcessRun(number, limits, this.#settings.limits);
    isolate.runs.set(number, run);
    isolate.served += 1;
    this.#watch.wake();
    return run;
  }

  #create(key: string, bundleHash: string, memoryMb: number): ComponentIsolate {
    const isolate: ComponentIsolate = new ComponentIsolate(
      key,
      bundleHash,
      this.#spares.take(memoryMb, {
        post: (kind, run, a, b, c) => routePost(this.#routes, isolate, kind, run, a, b, c),
        dbGet: (run, name) => this.#read(isolate, run, name),
        catastrophe: () => this.#catastrophe(isolate),
      }),
    );
    return isolate;
  }

  async #load(isolate: ComponentIsolate, run: ProcessRun): Promise<void> {
    const bundle = this.#bundles.get(isolate.bundleHash);
    if (bundle === undefined) throw new Error(`Bundle ${isolate.bundleHash} was never sent`);
    await isolate.guest.load(bundle, run);
    isolate.loaded = true;
  }

  #loadFailed(isolate: ComponentIsolate, run: ProcessRun, error: unknown): void {
    if (isolate.guest.endedByItself) return this.#outOfMemory(isolate);
    const thrown = readThrown(error instanceof LoadError ? error.cause : error);
    this.#end(isolate, run, { code: 'COMPONENT_ERROR', ...thrown });
    this.#throw(isolate);
  }

  /** Calls into the isolate. What rejects is its end, or a promise of the component that nobody handled. */
  #enter(isolate: ComponentIsolate, run: ProcessRun, kind: number, args: (string | number)[]): void {
    if (isolate.dead) return;
    isolate.guest.call(run, kind, ...args).catch((error: unknown) => this.#callFailed(isolate, run, error));
  }

  #callFailed(isolate: ComponentIsolate, run: ProcessRun, error: unknown): void {
    if (isolate.dead) return;
    if (isolate.guest.endedByItself) return this.#outOfMemory(isolate);
    if (run.over) return;
    const { message } = readThrown(error);
    if (run.budget.takeLogLine(message.length))
      this.#reporter.log(run.run, 'error', Date.now(), `Unhandled rejection: ${message}`);
  }

  #fetched(message: Extract<ToSandbox, { kind: 'fetched' }>): void {
    const found = this.#find(message.run);
    if (found === undefined || found.isolate.dead || !found.run.fetches.delete(message.call)) return;
    const { isolate, run } = found;
    const { outcome } = message;
    const { body, ...head } = outcome.ok ? outcome : { ...outcome, body: new Uint8Array(0) };
    isolate.guest
      .callWithBytes(run, CALL.fetched, message.call, JSON.stringify(head), body)
      .catch((error: unknown) => this.#callFailed(isolate, run, error));
  }

  #webCrypto(isolate: ComponentIsolate, run: ProcessRun, call: number, head: string, bytes: Uint8Array): void {
    const answer = run.workBeside(() => (run.over ? undefined : answerWebCrypto(head, bytes)));
    const answered = answer.then((given) => {
      if (given === undefined || isolate.dead) return;
      if (isolate.guest.cpuMsOf(run) > run.limits.cpuMs) return this.#overCpu(isolate, run);
      return isolate.guest.callWithBytes(run, CALL.answered, call, given.head, given.bytes);
    });
    answered.catch((error: unknown) => this.#callFailed(isolate, run, error));
  }

  #read(isolate: ComponentIsolate, number: unknown, key: unknown): Promise<string> {
    const run = isolate.find(number);
    if (run === undefined || run.over || typeof key !== 'string') return Promise.resolve('ethe run is over');
    const { call, answer } = run.openRead();
    this.#reporter.dbGet(run.run, call, key);
    return answer;
  }

  #ended(isolate: ComponentIsolate, run: ProcessRun, failure: string | undefined): void {
    if (failure !== undefined) return this.#end(isolate, run, readFailure(failure));
    this.#reporter.outcome(run.run, { ok: true, cpuMs: isolate.guest.cpuMsOf(run), wallMs: run.wallMs() });
    this.#close(isolate, run);
  }

  #end(isolate: ComponentIsolate, run: ProcessRun, fault: Fault, innocent = false): void {
    if (run.over) return;
    const cpuMs = isolate.guest.cpuMsOf(run);
    this.#reporter.outcome(run.run, { ok: false, fault, innocent, cpuMs, wallMs: run.wallMs() });
    this.#close(isolate, run);
  }

  #close(isolate: ComponentIsolate, run: ProcessRun): void {
    run.over = true;
    run.failReads();
    isolate.runs.delete(run.run);
    isolate.lingering.set(run.run, run);
    if (isolate.runs.size > 0) return;
    for (const ended of isolate.lingering.values()) {
      ended.clearTimers();
      for (const call of ended.fetches) this.#reporter.fetchAbort(ended.run, call);
    }
    isolate.lingering.clear();
  }

  #overCpu(isolate: ComponentIsolate, run: ProcessRun): void {
    const message = `The run used more than ${run.limits.cpuMs} ms of CPU time`;
    this.#kill(isolate, { code: 'CPU_LIMIT', message }, run);
  }

  #overWall(isolate: ComponentIsolate, run: ProcessRun): void {
    this.#end(isolate, run, { code: 'WALL_LIMIT', message: `The run took longer than ${run.limits.wallMs} ms` });
    this.#enter(isolate, run, CALL.end, []);
  }

  #outOfMemory(isolate: ComponentIsolate): void {
    const mb = [...isolate.runs.values()][0]?.limits.memoryMb ?? 0;
    const message = `The component used more than ${mb} MB of memory`;
    // Memory may have been filled by earlier runs of a warm isolate: only the first and only run of one is surely guilty.
    const [sole] = isolate.runs.values();
    this.#kill(isolate, { code: 'MEMORY_LIMIT', message }, isolate.served === 1 ? sole : undefined);
  }

  #catastrophe(isolate: ComponentIsolate): void {
    this.#outOfMemory(isolate);
    this.#reporter.condemned();
  }

  /** Ends an isolate with everything that runs in it. Without a culprit all of them may be innocent. */
  #kill(isolate: ComponentIsolate, fault: Fault, culprit: ProcessRun | undefined): void {
    if (isolate.dead) return;
    for (const run of isolate.runs.values()) {
      if (run === culprit) this.#end(isolate, run, fault);
      else
        this.#end(
          isolate,
          run,
          { code: fault.code, message: `Another run of this component was ended: ${fault.message}` },
          true,
        );
    }
    this.#throw(isolate);
    setTimeout(() => {
      if (isolate.guest.openCalls > 0) this.#reporter.condemned();
    }, DISPOSE_MS);
  }

  #throw(isolate: ComponentIsolate): void {
    isolate.dead = true;
    this.#cache.remove(isolate);
    this.#throwAway.delete(isolate);
    isolate.guest.dispose();
  }

  #find(number: number): { isolate: ComponentIsolate; run: ProcessRun } | undefined {
    for (const isolate of [...this.#cache.all(), ...this.#throwAway]) {
      const run = isolate.find(number);
      if (run !== undefined) return { isolate, run };
    }
    return undefined;
  }
}

// The guest writes it with intrinsics of its own, so it is JSON unless the isolate itself is broken.
function readFailure(json: string): Fault {
  const { code, message, stack } = JSON.parse(json) as { code: string; message: string; stack?: string };
  const fault: Fault = { code: code === 'OUTPUT_LIMIT' ? 'OUTPUT_LIMIT' : 'COMPONENT_ERROR', message };
  if (stack !== undefined) fault.stack = stack;
  return fault;
}
