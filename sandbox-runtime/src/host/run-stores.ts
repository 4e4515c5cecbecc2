import { type AccountLimits, LIMITS } from '@headwater/shared';
import type { DataStoreAnswer, DataStoreCall, RunHost, RunRequest } from '../sandbox.ts';

/** More than a guest has under way at a time. */
const MAX_OPEN_CALLS = 16;

/** The calls of one run on data stores: only on those that are among its props, whatever its process asks for. */
export class RunStores {
  readonly #host: RunHost;
  readonly #ids: ReadonlySet<string>;
  readonly #limits: AccountLimits;
  readonly #open = new Set<AbortController>();
  #calls = 0;

  constructor(request: RunRequest, host: RunHost) {
    this.#host = host;
    this.#limits = request.limits.account;
    this.#ids = new Set(Object.values(request.props).flatMap((prop) => (prop.kind === 'data-store' ? [prop.id] : [])));
  }

  get size(): number {
    return this.#open.size;
  }

  /** False for what a guest would not have let out: its process breaks the protocol. */
  isSound({ key = '', valueJson = '', cursor = '' }: DataStoreCall): boolean {
    return (
      this.#open.size < MAX_OPEN_CALLS &&
      this.#calls < this.#limits.maxDataStoreCallsPerRun &&
      key.length <= LIMITS.maxDataStoreKeyBytes &&
      valueJson.length <= this.#limits.maxDataStoreValueBytes &&
      cursor.length <= LIMITS.maxDataStoreKeyBytes * 4
    );
  }

  /** Never rejects. */
  async ask(call: DataStoreCall): Promise<DataStoreAnswer> {
    this.#calls += 1;
    if (!this.#ids.has(call.storeId)) return { ok: false, message: 'it is none of the props of this run' };
    const controller = new AbortController();
    this.#open.add(controller);
    try {
      return await this.#host.dataStore(call, controller.signal);
    } catch {
      // A host must not reject. Whatever it said is for its own log; an unanswered call would never end.
      return { ok: false, message: 'the store did not answer' };
    } finally {
      this.#open.delete(controller);
    }
  }

  abort(): void {
    for (const controller of this.#open) controller.abort();
  }
}
