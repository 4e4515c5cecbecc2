import { HeadwaterError } from '@headwater/shared';
import { TenantQueue } from '../host/tenant-queue.ts';

interface Waiting {
  tenantId: string;
  start: () => void;
}

/**
 * Who may build now. Builds need a core each, so few run at a time; the next one is the next tenant's. A build that has begun takes as long as it may,
 * so one tenant never has all slots: the others would wait for its slowest code each time.
 */
export class BuildSlots {
  readonly #max: number;
  readonly #maxWaiting: number;
  readonly #maxOfTenant: number;
  readonly #waiting = new TenantQueue<Waiting>();
  readonly #counts = new Map<string, number>();
  readonly #building = new Map<string, number>();
  #running = 0;

  constructor(max: number, maxWaiting: number) {
    this.#max = max;
    this.#maxOfTenant = Math.max(1, max - 1);
    this.#maxWaiting = maxWaiting;
  }

  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(tenantId) ?? 0;
    if (count > this.#maxWaiting)
      throw new HeadwaterError('RATE_LIMITED', `${count} components of this account are being built: try again later`);
    add(this.#counts, tenantId, 1);
    try {
      await new Promise<void>((start) => {
        this.#waiting.add(tenantId, { tenantId, start });
        this.#serve();
      });
      return await work();
    } finally {
      this.#leave(tenantId);
    }
  }

  #leave(tenantId: string): void {
    add(this.#counts, tenantId, -1);
    add(this.#building, tenantId, -1);
    this.#running -= 1;
    this.#serve();
  }

  #serve(): void {
    this.#waiting.serve(({ tenantId, start }) => {
      if (this.#running >= this.#max || (this.#building.get(tenantId) ?? 0) >= this.#maxOfTenant) return false;
      this.#running += 1;
      add(this.#building, tenantId, 1);
      start();
      return true;
    });
  }
}

function add(counts: Map<string, number>, tenantId: string, difference: number): void {
  const count = (counts.get(tenantId) ?? 0) + difference;
  if (count === 0) counts.delete(tenantId);
  else counts.set(tenantId, count);
}
