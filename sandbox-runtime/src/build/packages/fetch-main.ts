import { serveTasks } from '../serve-tasks.ts';
import type { FetchOrder } from './build-order.ts';
import { fetchPackages } from './fetch-packages.ts';

/**
 * The main file of a process that fetches packages into the cache. It reaches the registry, starts no program, and does not look
 * into what it fetches.
 */
serveTasks(async (order) => {
  const result = await fetchPackages(order as FetchOrder);
  return result.ok ? { value: { ok: true }, text: JSON.stringify(result.tree) } : { value: result };
});
