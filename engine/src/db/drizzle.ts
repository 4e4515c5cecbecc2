import { createRequire } from 'node:module';
import type * as orm from 'drizzle-orm';
import type * as pgCore from 'drizzle-orm/pg-core';
import type * as postgresJs from 'drizzle-orm/postgres-js';

const load = createRequire(import.meta.url);

/*
 * Loaded as CommonJS. For every ES module of a package, Node parses the `exports` of its
 * package.json again, and drizzle's are 180 KB. Its hundred modules would take longer than the rest
 * of a node's start. Users import types from the packages themselves.
 */
export const { and, count, desc, eq, getTableColumns, inArray, isNull, or, sql } = load('drizzle-orm') as typeof orm;

export const { bigint, boolean, customType, integer, jsonb, pgTable, primaryKey, text, timestamp } = load(
  'drizzle-orm/pg-core',
) as typeof pgCore;

export const { drizzle } = load('drizzle-orm/postgres-js') as typeof postgresJs;
