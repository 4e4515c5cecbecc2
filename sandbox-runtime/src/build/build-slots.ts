import { HeadwaterError } from '@headwater/shared';
import { TenantQueue } from '../host/tenant-queue.ts';

/** Who may build now. Builds need a core each, so few run at a time; the next one is the next tenant's. */
export class BuildSlots {
  readonly #max: number;
  readonly #maxWaiting: number;
  readonly #waiting = new TenantQueue<() => void>();
  readonly #counts = new Map<string, number>();
  #running = 0;

  constructor(max: number, maxWaiting: number) {
    this.#max = max;
    this.#maxWaiting = maxWaiting;
  }

  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(tenantId) ?? 0;
    if (count > this.#maxWaiting)
      throw new HeadwaterError('RATE_LIMITED', `${count} components of this account are being built: try again later`);
    this.#counts.set(tenantId, count + 1);
    try {
      await new Promise<void>((resolve) => {
        this.#waiting.add(tenantId, resolve);
        this.#serve();
      });
      return await work();
    } finally {
      this.#leave(tenantId);
    }
  }

  #leave(tenantId: string): void {
    const left = (this.#counts.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#counts.delete(tenantId);
    else this.#counts.set(tenantId, left);
    this.#running -= 1;
    this.#serve();
  }

  #serve(): void {
    this.#waiting.serve((start) => {
      if (this.#running >= this.#max) return false;
      this.#running += 1;
      start();
      return true;
    });
  }
}
