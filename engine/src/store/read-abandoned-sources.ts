import type { PropDefinition } from '@headwater/shared';
import type { Sql } from './database.ts';

export interface AbandonedSource {
  id: string;
  account_id: string;
  deployed: boolean;
  configured_props: Record<string, unknown>;
  configurable_props: PropDefinition[];
}

/** Sources whose deployment or change did not end before its lease: the node that was at it is gone. */
export async function readAbandonedSources(sql: Sql): Promise<AbandonedSource[]> {
  return sql<AbandonedSource[]>`
    select s.id, s.account_id, s.deployed_at is not null as deployed, s.configured_props, c.configurable_props
    from sources s join components c on c.id = s.component_id
    where s.busy_until < now() and s.deleted_at is null limit 100`;
}
