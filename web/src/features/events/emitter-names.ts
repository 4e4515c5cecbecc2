import { useInfiniteQuery } from '@tanstack/react-query';
import { portal } from '../../app/portal.ts';
import { sourcesQuery } from '../sources/source-queries.ts';
import { emitterNamesQuery } from '../webhooks/webhook-queries.ts';
import { workflowsQuery } from '../workflows/workflow-queries.ts';

/** Names of sources and workflows by their ids, of the pages of the lists that are loaded. */
export function useEmitterNames(): Map<string, string> {
  // The key of a portal reads webhooks alone.
  const enabled = portal === undefined;
  const sources = useInfiniteQuery({ ...sourcesQuery(), enabled });
  const workflows = useInfiniteQuery({ ...workflowsQuery(), enabled });
  const names = useInfiniteQuery({ ...emitterNamesQuery(), enabled: !enabled });
  const pages = [...(sources.data?.pages ?? []), ...(workflows.data?.pages ?? []), ...(names.data?.pages ?? [])];
  return new Map(
    pages.flatMap(({ data }) => (data as { id: string; name: string }[]).map(({ id, name }) => [id, name] as const)),
  );
}
