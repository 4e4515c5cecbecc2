import { useInfiniteQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../sources/source-queries.ts';
import { workflowsQuery } from '../workflows/workflow-queries.ts';

/** Names of sources and workflows by their ids, of the pages of the lists that are loaded. */
export function useEmitterNames(): Map<string, string> {
  const sources = useInfiniteQuery(sourcesQuery());
  const workflows = useInfiniteQuery(workflowsQuery());
  const pages = [...(sources.data?.pages ?? []), ...(workflows.data?.pages ?? [])];
  return new Map(pages.flatMap(({ data }) => data.map(({ id, name }) => [id, name] as const)));
}
