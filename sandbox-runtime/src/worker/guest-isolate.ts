import ivm from 'isolated-vm';
import type { GuestCall } from '../bridge/messages.ts';
import { answerAsk } from './answer-asks.ts';
import { failureFields } from './fault.ts';
import { asksForSourceMap, encodeCall, type RawAsk, type RawPost } from './isolate-codec.ts';
import { mustYieldLoop, yieldLoop } from './yield-loop.ts';
import type { ProcessRun } from './process-run.ts';

/** Name under which the component's code runs; frames of it are the author's. */
export const ISOLATE_COMPONENT_FILE = 'hw:component';

type Dispatch = ivm.Reference<(...args: unknown[]) => string | undefined>;

export interface IsolateHandlers {
  post(raw: RawPost): void;
  /** Resolves with `v` + JSON, `u` or `e` + message; never rejects. */
  dbGet(run: unknown, key: unknown): Promise<string>;
  /** V8 gave up on this isolate: its thread sleeps for good, and the process has to be ended. */
  catastrophe(): void;
}

/** A component's code in the process, with V8's compiled form after the first compilation. */
export interface LoadedBundle {
  code: string;
  /** JSON text of its source map; '' if it has none here. */
  map: string;
  compiled: ivm.ExternalCopy<ArrayBuffer> | undefined;
}

export interface IsolateOptions {
  snapshot: ivm.ExternalCopy<ArrayBuffer>;
  memoryMb: number;
  handlers: IsolateHandlers;
}

/**
 * Cost of a call for this process besides the isolate. It counts, so that a loop of timers also
 * reaches the CPU limit.
 */
const CALL_OVERHEAD_NS = 5_000;

interface OpenCall {
  owner: ProcessRun;
}

/** `load` throws it for an error of the component; `cause` is the copied error. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

/**
 * One V8 isolate with one component in one context. Calls run in order, each with its microtasks
 * before the next. So the CPU time since the last finished call belongs to the oldest open one.
 *
 * The library's own `timeout` is not used: it halves the throughput, and the clock that
 * `cpuOfOldestCall` reads covers the same and more.
 */
export class GuestIsolate {
  readonly #isolate: ivm.Isolate;
  readonly #options: IsolateOptions;
  readonly #calls: OpenCall[] = [];
  #dispatch: Dispatch | undefined;
  /** Source map of the component. */
  #map = '';
  #cpuMarkNs = 0;
  /** As it was read last: an isolate that V8 has ended tells it no more. */
  #cpuReadNs = 0;
  /** Time that this process worked for the isolate while it waited. */
  #askedNs = 0;
  #disposed = false;
  readonly #booted: Promise<ivm.Context>;

  constructor(options: IsolateOptions) {
    this.#options = options;
    this.#isolate = new ivm.Isolate({
      memoryLimit: options.memoryMb,
      snapshot: options.snapshot,
      onCatastrophicError: () => options.handlers.catastrophe(),
    });
    this.#booted = this.#start();
    // The code that loads a component sees the error. A spare isolate may be disposed before any
    // code awaits it.
    this.#booted.catch(() => undefined);
  }

  get openCalls(): number {
    return this.#calls.length;
  }

  /** True once V8 has ended the isolate by itself, which it does when memory runs out. */
  get endedByItself(): boolean {
    return !this.#disposed && this.#isolate.isDisposed;
  }

  /**
   * Evaluates the component. Throws LoadError, or the library's error for an ended isolate. Returns
   * the reason of an unhandled rejection, which is no failure here: undici, for example, starts to
   * compile WebAssembly at load time, but needs it only for its own sockets.
   */
  async load(bundle: LoadedBundle, owner: ProcessRun): Promise<{ unhandled: unknown } | undefined> {
    const call = this.#open(owner);
    try {
      const context = await this.#booted;
      this.#map = bundle.map;
      await this.#send(owner, { kind: 'loading', limits: owner.guestLimits.text });
      const { module, rejected } = await compile(this.#isolate, context, bundle);
      const failure = await this.#send(owner, { kind: 'load', namespace: module.namespace.derefInto() });
      if (failure === undefined) return rejected && { unhandled: rejected.cause };
      throw new LoadError('The component failed to load', rejected ?? { cause: failureFields(failure) });
    } finally {
      this.#close(call);
    }
  }

  /**
   * Enters the isolate. Rejects when it ends, and with a promise of the component that was rejected
   * unhandled.
   */
  async call(owner: ProcessRun, call: GuestCall): Promise<string | undefined> {
    const open = this.#open(owner);
    try {
      return await this.#send(owner, call);
    } finally {
      this.#close(open);
    }
  }

  async #send({ run }: ProcessRun, call: GuestCall): Promise<string | undefined> {
    // The library takes the stack of who calls it, for errors. Here it is one frame, not ten.
    await Promise.resolve();
    return this.#dispatch?.apply(undefined, encodeCall(call, run, moveBytes));
  }

  /** The executing call: the same object for as long as it takes. */
  executing(): { owner: ProcessRun } | undefined {
    return this.#calls[0];
  }

  /** The run of the executing call, and that call's CPU time so far. */
  oldestCall(): { owner: ProcessRun; cpuNs: number } | undefined {
    const oldest = this.#calls[0];
    return oldest === undefined ? undefined : { owner: oldest.owner, cpuNs: this.#cpuNow() - this.#cpuMarkNs };
  }

  /** CPU time of a run, with the part of a call that is still going on. */
  cpuMsOf(run: ProcessRun): number {
    const oldest = this.oldestCall();
    return run.boundCpuNs(run.cpuNs + (oldest?.owner === run ? oldest.cpuNs : 0)) / 1e6;
  }

  async usedHeapBytes(): Promise<number> {
    const heap = await this.#isolate.getHeapStatistics();
    return heap.used_heap_size + heap.externally_allocated_size;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  async #start(): Promise<ivm.Context> {
    const context = await this.#isolate.createContext();
    this.#dispatch = await this.#boot(context);
    // Work before the first run is charged to no run.
    if (this.#calls.length === 0) this.#cpuMarkNs = this.#cpuNow();
    return context;
  }

  async #boot(context: ivm.Context): Promise<Dispatch> {
    const { handlers } = this.#options;
    const boot = await context.global.get('__headwaterBoot', { reference: true });
    await context.global.delete('__headwaterBoot');
    const post = new ivm.Callback((...raw: RawPost) => handlers.post(raw), { ignored: true });
    const ask = new ivm.Callback((...raw: RawAsk) => this.#answer(raw), { sync: true });
    const dbGet = new ivm.Reference(handlers.dbGet);
    const wait = new ivm.Reference(yieldLoop);
    return (await boot.apply(undefined, [post, ask, dbGet, wait], { result: { reference: true } })) as Dispatch;
  }

  #answer(raw: RawAsk): Uint8Array | string | undefined {
    if (asksForSourceMap(raw)) return this.#map;
    const startedAtMs = performance.now();
    const answer = mustYieldLoop(startedAtMs) ? undefined : answerAsk(raw);
    this.#askedNs += (performance.now() - startedAtMs) * 1e6 + CALL_OVERHEAD_NS;
    return answer;
  }

  #open(owner: ProcessRun): OpenCall {
    const call = { owner };
    this.#calls.push(call);
    return call;
  }

  #close(call: OpenCall): void {
    const index = this.#calls.indexOf(call);
    if (index >= 0) this.#calls.splice(index, 1);
    const nowNs = this.#cpuNow();
    call.owner.cpuNs += nowNs - this.#cpuMarkNs + CALL_OVERHEAD_NS;
    this.#cpuMarkNs = nowNs;
  }

  /**
   * Read while anything runs, so of one that was ended no more is missing than since the last look.
   */
  #cpuNow(): number {
    if (!this.#isolate.isDisposed) this.#cpuReadNs = Number(this.#isolate.cpuTime) + this.#askedNs;
    return this.#cpuReadNs;
  }
}

function moveBytes(bytes: Uint8Array): ivm.Transferable {
  return new ivm.ExternalCopy(bytes, { transferOut: true }).copyInto({ release: true, transferIn: true });
}

/**
 * `rejected`: the module threw, or ended well with a promise of its own rejected unhandled. Its
 * namespace tells which.
 */
interface Evaluated {
  module: ivm.Module;
  rejected: { cause: unknown } | undefined;
}

async function compile(isolate: ivm.Isolate, context: ivm.Context, bundle: LoadedBundle): Promise<Evaluated> {
  try {
    const cache = bundle.compiled === undefined ? { produceCachedData: true } : { cachedData: bundle.compiled };
    const module: ivm.Module & ivm.CachedDataResult = await isolate.compileModule(bundle.code, {
      filename: ISOLATE_COMPONENT_FILE,
      ...cache,
    });
    // Made before any of the component's code has run in this isolate: nothing but V8 had a hand in
    // it.
    bundle.compiled ??= module.cachedData;
    await module.instantiate(context, () => {
      throw new Error('A bundle imports nothing');
    });
    const rejected = await module.evaluate().then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    );
    if (isolate.isDisposed) throw rejected?.cause;
    return { module, rejected };
  } catch (cause) {
    if (isolate.isDisposed) throw cause;
    throw new LoadError('The component failed to load', { cause });
  }
}
