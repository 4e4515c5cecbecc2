import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { ShownJson } from '../contract/index.ts';
import type { Sql, Transaction } from './database.ts';

type Fragment = postgres.PendingQuery<postgres.Row[]>;

export const shown = (text: string, isCutText: boolean): ShownJson => (isCutText ? { text, isCut: true } : { text });

export const isCut = (sql: Sql | Transaction, column: Fragment, maxBytes: number | null): Fragment =>
  sql`coalesce(octet_length(${column}) > ${maxBytes}::int4, false)`;

/** One character has at least one byte. A later step cuts the rest to bytes. */
export const cutJson = (sql: Sql | Transaction, column: Fragment, maxBytes: number | null): Fragment =>
  sql`case when ${isCut(sql, column, maxBytes)} then left(${column}, ${LIMITS.summaryEventBytes}::int4) else ${column} end`;
