import { useNames } from '../../api/names.ts';
import { portal } from '../../app/portal.ts';

/** Names of sources and workflows by their ids. The key of a portal reads webhooks alone. */
export function useEmitterNames(): Map<string, string> {
  return useNames(...(portal === undefined ? (['sources', 'workflows'] as const) : (['emitters'] as const)));
}
