import { type Database, openDatabase } from '../../engine/src/db/database.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { longRun } from './long-run.ts';
import { fc } from './properties.ts';
import { insertAccount } from './source-rows.ts';
import { type StatementCut, type StatementCutter, startStatementCutter } from './statement-cutter.ts';

/*
 * Shared by models that play random histories of nodes on real rows. It has a database with a
 * connection that can be cut at any statement. It also has arbitraries that choose among rows
 * created during a history.
 */

/** How many a model plays; `byDefault`: its file ends within seconds. */
export const modelHistories = (byDefault: number) =>
  Number(process.env['HEADWATER_MODEL_HISTORIES'] ?? longRun(byDefault, 20 * byDefault));

interface Attempted<T> {
  done?: T;
  /** Unless a cut has caused it. */
  error?: Error;
  wasCut: boolean;
}

export interface ModelDatabase {
  test: TestDatabase;
  /** Its connection is cut where a move says so. */
  cutOff: Database;
  accountId: string;
  /** Makes a move, with a possible cut of its connection. */
  attempt<T>(cut: StatementCut | undefined, move: () => Promise<T>): Promise<Attempted<T>>;
  stop(): Promise<void>;
}

export async function startModelDatabase(): Promise<ModelDatabase> {
  const test = await createTestDatabase();
  const cutter = await startStatementCutter(test.url);
  const cutOff = openDatabase({ url: cutter.url, maxConnections: 1 });
  return {
    test,
    cutOff,
    accountId: await insertAccount(test.db.sql),
    attempt: (cut, move) => attempt(cutter, cut, move),
    async stop() {
      await cutOff.close();
      await cutter.stop();
      await test.drop();
    },
  };
}

async function attempt<T>(
  cutter: StatementCutter,
  cut: StatementCut | undefined,
  move: () => Promise<T>,
): Promise<Attempted<T>> {
  if (cut !== undefined) cutter.arm(cut);
  try {
    const done = await move();
    return { done, wasCut: cutter.disarm() };
  } catch (error) {
    const wasCut = cutter.disarm();
    return { wasCut, ...(wasCut ? {} : { error: error as Error }) };
  }
}

/**
 * A cut at one of the first `maxAt` statements of a move, or at its first commit; `freq`: see
 * fc.option.
 */
export const statementCut = (maxAt: number, freq: number): fc.Arbitrary<StatementCut | undefined> =>
  fc.option(
    fc.record({
      at: fc.integer({ min: 1, max: maxAt }),
      when: fc.constantFrom('before' as const, 'answered' as const),
    }),
    { nil: undefined, freq },
  );

/** Chooses among as many as there are. */
export const which = fc.nat({ max: 20 });
/** A mask for `subset`. */
export const some = fc.integer({ min: 1, max: 255 });
export const oneOf = <K extends string>(...kinds: K[]) => fc.constantFrom(...kinds);

export function pick<T>(from: Iterable<T>, at: number): T | undefined {
  const all = [...from];
  return all[at % Math.max(1, all.length)];
}

export function subset<T>(from: Iterable<T>, mask: number): T[] {
  return [...from].filter((_, at) => (mask & (1 << (at % 8))) !== 0);
}

export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).symmetricDifference(new Set(b)).size === 0;
}
