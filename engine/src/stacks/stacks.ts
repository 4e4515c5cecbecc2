import { HeadwaterError, LIMITS, notFound, platformLimit } from '@headwater/shared';
import { overLimit } from '../accounts/index.ts';
import { type StackRecord, type Stacks, throwFields } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { deleteStack, listStacks, putStack, readStack, type StackRow } from './stacks.sql.ts';

const NAME = /^[\w.-]+$/;

/** Stacks as the API sees them. */
export function createStacks(sql: Sql): Stacks {
  return {
    list: async (who) => (await listStacks(sql, who.accountId)).map(recordOf),
    async get(who, name) {
      const row = NAME.test(name) ? await readStack(sql, who.accountId, name) : undefined;
      if (row === undefined) throw notFound('stack', name);
      return recordOf(row);
    },
    async put(who, name, update) {
      if (!NAME.test(name) || name.length > LIMITS.maxStackNameChars) {
        const message = `must be letters, digits, -, _ and ., at most ${LIMITS.maxStackNameChars} characters`;
        const limit = platformLimit('maxStackNameChars', name.length);
        throwFields([{ path: 'name', message, ...(limit.used > limit.value ? { limit } : {}) }]);
      }
      const outcome = await putStack(sql, { accountId: who.accountId, name, ...update }, LIMITS.maxStacks);
      if (outcome.kind === 'full')
        throw overLimit({ name: 'maxStacks', value: LIMITS.maxStacks, used: outcome.stacks + 1 });
      if (outcome.kind === 'held')
        throw new HeadwaterError(
          'CONFLICT',
          `Stack ${name} is being applied by another holder; try again when that ends`,
        );
      return recordOf(outcome.row);
    },
    async delete(who, name) {
      if (!NAME.test(name) || !(await deleteStack(sql, who.accountId, name))) throw notFound('stack', name);
    },
  };
}

function recordOf(row: StackRow): StackRecord {
  return {
    name: row.name,
    resources: row.resources,
    ...(row.held_until_ms === null ? {} : { heldUntil: new Date(row.held_until_ms) }),
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}
