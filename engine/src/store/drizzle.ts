import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/*
 * As CommonJS. Node parses the `exports` of a package's package.json again for every ES module of the package that it
 * resolves, and drizzle's are 180 KB: its hundred modules would take longer than the rest of a node's start. Types are
 * imported from the packages by those who need them.
 */
export const { and, count, desc, eq, inArray, isNotNull, isNull, or, sql } = load(
  'drizzle-orm',
) as typeof import('drizzle-orm');

export const { bigint, boolean, customType, integer, jsonb, pgTable, primaryKey, text, timestamp } = load(
  'drizzle-orm/pg-core',
) as typeof import('drizzle-orm/pg-core');

export const { drizzle } = load('drizzle-orm/postgres-js') as typeof import('drizzle-orm/postgres-js');
