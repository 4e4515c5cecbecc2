import { ID_PREFIXES } from '@headwater/shared';
import { addRunLanes } from './insert-invocations.sql.ts';
import type { Sql } from '../db/database.ts';

/** A claim of an invocation: see HeldInvocation. */
export interface Claim {
  id: string;
  claim: number;
}

/** Gives invocations back: another node, or a later moment, will run them. */
export async function releaseInvocations(sql: Sql, nodeId: string, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      update invocations i set leased_by = null,
        -- of a workflow: see HeldInvocation.attempts
        attempts = case when starts_with(source_id, ${ID_PREFIXES.workflow}) then greatest(attempts - 1, 1) else attempts end
      from unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::int4[]) as held(id, claim)
      where i.id = held.id and i.claim = held.claim and i.leased_by = ${nodeId}
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
  });
}
