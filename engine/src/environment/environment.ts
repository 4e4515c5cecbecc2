import { type FieldError, HeadwaterError, LIMITS, notFound, platformLimit } from '@headwater/shared';
import { type LimitsCache, overLimit } from '../accounts/index.ts';
import {
  type Environment,
  type EnvironmentVariable,
  type Page,
  type PageRequest,
  type Principal,
  throwFields,
} from '../contract/index.ts';
import { checkPageSize, decodeKeyCursor, encodeKeyCursor, notACursor, type Sql } from '../db/index.ts';
import type { Sealer } from '../secrets/index.ts';
import {
  deleteEnvironmentVariable,
  type EnvironmentRow,
  listEnvironmentVariables,
  putEnvironmentVariable,
  readEnvironmentVariable,
} from './environment-variables.sql.ts';

interface EnvironmentOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'seal'>;
  limits: Pick<LimitsCache, 'get'>;
  /**
   * Drops what this node has in memory of the account; other nodes hear of it from the database.
   */
  forget: (accountId: string) => void;
}

const NAME = /^[A-Za-z_]\w*$/;

/**
 * Environment variables as the API sees them. Their values go in, and come out in steps of
 * workflows alone.
 */
export function createEnvironment({ sql, sealer, limits, forget }: EnvironmentOptions): Environment {
  return {
    list: (who, request) => list(sql, who, request),
    async get(who, name) {
      const row = NAME.test(name) ? await readEnvironmentVariable(sql, who.accountId, name) : undefined;
      if (row === undefined) throw notFound('environment variable', name);
      return recordOf(row);
    },
    async put(who, name, { value, description }) {
      checkVariable(name, value);
      const { accountId } = who;
      const { maxEnvironmentVariables: max } = await limits.get(accountId);
      const text = description === undefined ? {} : { description: description || null };
      const sealed = sealer.seal(accountId, value);
      const outcome = await putEnvironmentVariable(sql, { accountId, name, ...text, value: sealed }, max);
      if (outcome.kind === 'full')
        throw overLimit({ name: 'maxEnvironmentVariables', value: max, used: outcome.variables + 1 });
      forget(accountId);
      return recordOf(outcome.row);
    },
    async delete(who, name) {
      const outcome = NAME.test(name)
        ? await deleteEnvironmentVariable(sql, who.accountId, name)
        : { kind: 'absent' as const };
      if (outcome.kind === 'absent') throw notFound('environment variable', name);
      if (outcome.kind === 'used')
        throw new HeadwaterError('CONFLICT', `The variable ${name} is used by ${outcome.usedBy.join(', ')}`);
      forget(who.accountId);
    },
  };
}

async function list(sql: Sql, who: Principal, { limit, ...request }: PageRequest): Promise<Page<EnvironmentVariable>> {
  checkPageSize(limit);
  const cursors = { ...cursorOf('after', request.after), ...cursorOf('before', request.before) };
  const { rows, total } = await listEnvironmentVariables(sql, who.accountId, { limit, ...cursors });
  const [first, last] = [rows[0], rows.at(-1)];
  const ends = first && last ? { startCursor: encodeKeyCursor(first.name), endCursor: encodeKeyCursor(last.name) } : {};
  return { items: rows.map(recordOf), total, ...ends };
}

function cursorOf(field: 'after' | 'before', cursor: string | undefined): { after?: string; before?: string } {
  if (cursor === undefined || cursor === '') return {};
  const name = decodeKeyCursor(cursor);
  if (name === undefined) throw notACursor(field);
  return { [field]: name };
}

function checkVariable(name: string, value: string): void {
  const errors: FieldError[] = [];
  if (!NAME.test(name) || name.length > LIMITS.maxEnvironmentNameChars) {
    const message = `must be letters, digits and _, no digit first, at most ${LIMITS.maxEnvironmentNameChars} characters`;
    const limit = platformLimit('maxEnvironmentNameChars', name.length);
    errors.push({ path: 'name', message, ...(limit.used > limit.value ? { limit } : {}) });
  }
  const limit = platformLimit('maxEnvironmentValueBytes', Buffer.byteLength(value));
  if (limit.used > limit.value)
    errors.push({ path: 'value', message: `has ${limit.used} bytes; at most ${limit.value} are allowed`, limit });
  throwFields(errors);
}

function recordOf(row: EnvironmentRow): EnvironmentVariable {
  return {
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}
