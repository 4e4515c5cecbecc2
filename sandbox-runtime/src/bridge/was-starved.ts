import type { RunFault } from '../sandbox-types.ts';

/**
 * A run met its wall limit because the machine gave its process no processor. Every other innocent
 * end at that limit names no limit: something else ended the run's isolate.
 */
export function wasStarved({ innocent, fault }: { innocent: boolean; fault: RunFault }): boolean {
  return innocent && fault.code === 'WALL_LIMIT' && fault.limit !== undefined;
}
