import { serveTasks } from '../serve-tasks.ts';
import type { FetchAnswer, FetchOrder } from './build-order.ts';
import { fetchPackages } from './fetch-packages.ts';

/**
 * Main file of a process that fetches packages into the cache. It reaches the registry, starts no
 * program, and does not read the content that it fetches.
 */
serveTasks(async (order) => {
  const result = await fetchPackages(order as FetchOrder);
  if (!result.ok) return { value: result satisfies FetchAnswer };
  const { tree, bytes } = result;
  return { value: { ok: true, bytes } satisfies FetchAnswer, text: JSON.stringify(tree) };
});
