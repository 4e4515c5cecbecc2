import type { RunHost } from '../sandbox.ts';
import type { DataStoreAnswer, DataStoreCall, RunRequest } from '../sandbox-types.ts';

/**
 * The data store calls of one run: only on stores among its props, for any request of the process.
 */
export class RunStores {
  readonly #host: RunHost;
  readonly #ids: ReadonlySet<string>;
  readonly #open = new Set<AbortController>();

  constructor(request: RunRequest, host: RunHost) {
    this.#host = host;
    this.#ids = new Set(Object.values(request.props).flatMap((prop) => (prop.kind === 'data-store' ? [prop.id] : [])));
  }

  get size(): number {
    return this.#open.size;
  }

  /** Never rejects. */
  async ask(call: DataStoreCall): Promise<DataStoreAnswer> {
    if (!this.#ids.has(call.storeId)) return { ok: false, message: 'it is none of the props of this run' };
    const controller = new AbortController();
    this.#open.add(controller);
    try {
      return await this.#host.dataStore(call, controller.signal);
    } catch {
      // A host must not reject. It logs its own error; an unanswered call would never end.
      return { ok: false, message: 'the store did not answer' };
    } finally {
      this.#open.delete(controller);
    }
  }

  abort(): void {
    for (const controller of this.#open) controller.abort();
  }
}
