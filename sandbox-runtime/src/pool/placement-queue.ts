import type { ExceededLimit } from '@headwater/shared';
import { limitFault } from '../bridge/exceeded-limit.ts';
import type { RunFault } from '../sandbox-types.ts';
import type { ProcessUse } from './process-shares.ts';
import type { ProcessClient } from './run-client.ts';
import type { SandboxProcess } from './sandbox-process.ts';
import { TenantQueue } from '../starter/tenant-queue.ts';

/** Something to do in a process of a tenant. */
export interface Placement extends ProcessUse {
  kind: 'run' | 'load';
  client: ProcessClient;
  start(process: SandboxProcess): void;
}

export interface QueueBounds {
  maxQueuedPerTenant: number;
  maxAloneWaitMs: number;
  maxLoadWaitMs: number;
}

interface Waiting extends Placement {
  sinceMs: number;
  maxWait: Pick<ExceededLimit, 'name' | 'value'> | undefined;
}

const SHARED = 'shared';
const ALONE = 'alone';

/**
 * Queue for a process, or for a turn in one. Bounded in number. Also bounded in time if the wait
 * could repeatedly take minutes.
 */
export class PlacementQueue {
  readonly #bounds: QueueBounds;
  readonly #queue = new TenantQueue<Waiting>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** Returns the reason if it refuses. */
  add(placement: Placement, nowMs: number): RunFault | undefined {
    const { tenantId } = placement;
    const line = lineOf(placement);
    const value = this.#bounds.maxQueuedPerTenant;
    const used = this.#queue.countOf(tenantId, line) + 1;
    if (used > value) return unavailable({ name: 'maxQueuedRunsPerTenant', value, used });
    this.#queue.add(tenantId, { ...placement, sinceMs: nowMs, maxWait: this.#maxWait(placement) }, line);
    return undefined;
  }

  /** Whether something waits that the tenant's shared process could do. */
  waitsForShared(tenantId: string): boolean {
    return this.#queue.countOf(tenantId, SHARED) > 0;
  }

  firsts(): IteratorObject<Placement> {
    return this.#queue.firsts();
  }

  serve(tryServe: (placement: Placement) => boolean): void {
    this.#queue.serve(tryServe);
  }

  endLate(nowMs: number): void {
    for (const { client, sinceMs, maxWait } of this.#queue.remove((waiting) => isLate(waiting, nowMs)))
      if (maxWait !== undefined) client.lose(unavailable({ ...maxWait, used: Math.ceil(nowMs - sinceMs) }), 'run');
  }

  remove(client: ProcessClient): void {
    this.#queue.remove((waiting) => waiting.client === client);
  }

  endAll(fault: RunFault): void {
    for (const { client } of this.#queue.drain()) client.lose(fault, 'nobody');
  }

  #maxWait({ kind, alone }: Placement): Waiting['maxWait'] {
    if (kind === 'load') return { name: 'maxLoadWaitMs', value: this.#bounds.maxLoadWaitMs };
    return alone ? { name: 'maxAloneWaitMs', value: this.#bounds.maxAloneWaitMs } : undefined;
  }
}

function isLate({ sinceMs, maxWait }: Waiting, nowMs: number): boolean {
  return maxWait !== undefined && nowMs - sinceMs > maxWait.value;
}

/**
 * Tasks that need a process alone may wait longer, so they must not block tasks for the tenant's
 * shared process.
 */
function lineOf({ alone }: Placement): string {
  return alone ? ALONE : SHARED;
}

function unavailable(limit: ExceededLimit): RunFault {
  return { ...limitFault(limit), code: 'UNAVAILABLE' };
}
