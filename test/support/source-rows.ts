import { randomUUID } from 'node:crypto';
import { newId } from '@headwater/shared';
import type { ChangeLease } from '../../engine/src/db/change-lease.ts';
import { beginSourceChange } from '../../engine/src/sources/change-source.sql.ts';
import type { Sql } from '../../engine/src/db/database.ts';

export interface SourceState {
  active?: boolean;
  deleted?: boolean;
  /** False: its deployment has not ended. */
  deployed?: boolean;
}

/** An account with one user of the same id. */
export async function insertAccount(sql: Sql, limits: object = {}): Promise<string> {
  const id = newId('account');
  await sql`insert into accounts (id, name, limits) values (${id}, 'Test', ${JSON.stringify(limits)}::text::jsonb)`;
  await sql`insert into users (id, account_id, username) values (${id}, ${id}, 'user')`;
  return id;
}

/** A source of code that is never run, with the state that an emitter has. */
export async function insertSource(sql: Sql, accountId: string, state: SourceState = {}): Promise<string> {
  const [componentId, id] = [newId('savedComponent'), newId('source')];
  const { active = true, deleted = false, deployed = true } = state;
  await sql`
    insert into components (id, account_id, name, version, type, code, code_hash, bundle, hooks, configurable_props)
    values (${componentId}, ${accountId}, 'c', '1', 'source', '', '', '', '{}', '[]')`;
  await sql`
    insert into sources (id, account_id, user_id, component_id, name, name_slug, configured_props, active, deployed_at, deleted_at)
    values (${id}, ${accountId}, ${accountId}, ${componentId}, 's', ${id}, '{}', ${active},
      ${deployed ? sql`now()` : null}, ${deleted ? sql`now()` : null})`;
  await sql`insert into emitter_state (emitter_id, account_id) values (${id}, ${accountId})`;
  return id;
}

/** As a change of it begins. */
export async function leaseSource(sql: Sql, accountId: string, sourceId: string, seconds = 60): Promise<ChangeLease> {
  const [changeId, nodeId] = [randomUUID(), 'node_a'];
  const begun = await beginSourceChange(sql, accountId, sourceId, { changeId, nodeId, seconds });
  if (begun !== 'taken') throw new Error(`The source is ${begun}`);
  return { accountId, sourceId, changeId, nodeId };
}
