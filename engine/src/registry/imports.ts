import type { Builder, ComponentFiles } from '@headwater/sandbox-runtime';
import { type FieldError, HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import { createBoundedTurns, tooMany } from '../fairness/index.ts';
import type {
  ComponentRecord,
  Components,
  ImportedComponent,
  Imports,
  Log,
  Principal,
  Registry,
} from '../contract/index.ts';
import { every, type Sql } from '../db/index.ts';
import { beginComponent, type BegunComponent, uncountAttempt } from './registry-import-files.sql.ts';
import {
  type ClaimedImport,
  claimImport,
  countWaitingImports,
  extendImport,
  insertImport,
  readImport,
  recordImported,
  releaseImport,
  type TurnEnd,
} from './registry-imports.sql.ts';
import { collectFiles } from './collect-files.ts';
import { readComponentTree } from './component-tree.ts';
import { readArchive } from './read-archive.ts';
import { createStoredFiles } from './stored-files.ts';

export interface ImportOptions {
  sql: Sql;
  components: Pick<Components, 'publish'>;
  saveFiles: (who: Principal, component: ComponentFiles) => Promise<ComponentRecord>;
  registry: Pick<Registry, 'publish'>;
  builder: Pick<Builder, 'listMissingFiles'>;
  log: Log;
  /** An import that its node has not extended for so long is another's. Default 60. */
  leaseSeconds?: number;
}

const PAUSE_MS = 1_000;
const LEASE_SECONDS = 60;
/** Part of the lease that has passed when a turn extends it. */
const EXTENDED_AFTER = 1 / 3;
const MAX_ERROR_CHARS = 1_000;
const MAX_ERRORS = 10;

export function createImports({ sql }: Pick<ImportOptions, 'sql'>): Imports {
  const turns = createBoundedTurns('maxWaitingImports', 'imports');
  async function get(who: Principal, id: string) {
    const found = id.includes('\0') ? undefined : await readImport(sql, who.accountId, id);
    if (found === undefined) throw notFound('import', id);
    return found;
  }
  const begin: Imports['start'] = async (who, { scope, files, archive }) => {
    // Fifty megabytes can be in an archive.
    if ((await countWaitingImports(sql, who.accountId)) >= LIMITS.maxWaitingImports) throw tooManyImports();
    const given = archive === undefined ? (files ?? {}) : await readArchive(archive);
    const { files: tree, faults, limit: exceeded } = await readComponentTree(given);
    if (faults.length > 0) {
      const details = { fields: faults, ...(exceeded === undefined ? {} : { limit: exceeded }) };
      throw new HeadwaterError('INVALID_REQUEST', faults[0]?.message ?? '', details);
    }
    const total = tree.filter(({ isComponent }) => isComponent).length;
    const row = { id: newId('registryImport'), ...who, scope, files: tree, total };
    const room = { maxWaiting: LIMITS.maxWaitingImports, kept: LIMITS.maxKeptImports };
    const id = await insertImport(sql, row, room);
    if (id === undefined) throw tooManyImports();
    return get(who, id);
  };
  return { start: (who, input) => turns.run(who.accountId, () => begin(who, input)), get };
}

const tooManyImports = () => tooMany('maxWaitingImports', 'imports');

/**
 * Works on imports in turns of LIMITS.importTurnMs, each time on the one that has waited longest:
 * on LIMITS.importsAtOnce at the same time, one of each account. Components are built in the
 * builder's queues, where accounts take turns as well, and there an import waits behind all that
 * its account has there. Answers a stop that waits for the components under way: stop the builder
 * at the same time.
 */
export function startImports(options: ImportOptions): () => Promise<void> {
  const { log } = options;
  const onError = (err: unknown) => log.error({ err }, 'an import could not go on');
  /**
   * By account, which may have lost its lease if the node stalled: the turn goes on all the same.
   */
  const turns = new Map<string, Promise<void>>();
  let looking: Promise<void> = Promise.resolve();
  let isStopping = false;
  /** The node has no room for any account until the next look. */
  let isOut = false;

  async function takeTurns(): Promise<void> {
    while (!isStopping && !isOut && turns.size < LIMITS.importsAtOnce) {
      const claimed = await claimImport(options.sql, leaseSecondsOf(options), [...turns.keys()]);
      if (claimed === undefined) return;
      begin(claimed);
    }
  }
  function begin(claimed: ClaimedImport): void {
    const turn = takeTurn(options, claimed, () => isStopping)
      .catch((error: unknown) => {
        onError(error);
        return false;
      })
      .then((hasRoom) => {
        turns.delete(claimed.accountId);
        if (hasRoom) look().catch(onError);
        else isOut = true;
      });
    turns.set(claimed.accountId, turn);
  }
  /** One after the other: two would begin more than there may be. */
  function look(): Promise<void> {
    looking = looking.then(takeTurns, takeTurns);
    return looking;
  }

  const stop = every(
    PAUSE_MS,
    () => {
      isOut = false;
      return look();
    },
    onError,
  );
  return async () => {
    isStopping = true;
    await stop();
    await looking.catch(() => undefined);
    await Promise.all(turns.values());
  };
}

const leaseSecondsOf = ({ leaseSeconds = LEASE_SECONDS }: ImportOptions): number => leaseSeconds;

/**
 * A component can wait longer than a lease, behind its account's other work in the builder's queue.
 */
function keepLease(options: ImportOptions, claimed: ClaimedImport): () => Promise<void> {
  const leaseSeconds = leaseSecondsOf(options);
  return every(
    leaseSeconds * 1_000 * EXTENDED_AFTER,
    () => extendImport(options.sql, claimed, leaseSeconds),
    (err) => options.log.warn({ err, import: claimed.id }, 'the lease of an import was not extended'),
  );
}

/**
 * Imports components for one turn. Each is begun at most LIMITS.maxImportAttempts times: one that
 * crashes its node each time fails, and the later ones have their turn. If an account's builds find
 * no room or no packages, it pauses and others continue. False if the node has no room for any
 * account.
 */
async function takeTurn(options: ImportOptions, claimed: ClaimedImport, isStopping: () => boolean): Promise<boolean> {
  const { sql, log } = options;
  const untilMs = performance.now() + LIMITS.importTurnMs;
  const letGo = keepLease(options, claimed);
  let end: TurnEnd = { kind: 'waits', restSeconds: 0 };
  try {
    while (!isStopping() && performance.now() <= untilMs) {
      const begun = await beginComponent(sql, claimed);
      if (begun === undefined) {
        // Harmless if the turn was lost: releaseImport then ends nothing.
        end = { kind: 'ended' };
        return true;
      }
      const { path, attempts } = begun;
      const result = attempts > LIMITS.maxImportAttempts ? abandoned(path) : await importOne(options, claimed, begun);
      if (typeof result === 'object') {
        await recordImported(sql, claimed, result);
        continue;
      }
      await uncountAttempt(sql, { importId: claimed.id, path, waitsForPackages: result === 'no-packages' });
      if (result === 'node-full') return false;
      end = { kind: 'waits', restSeconds: LIMITS.importRestMs / 1_000 };
      return true;
    }
    return true;
  } finally {
    await letGo();
    await releaseImport(sql, claimed, end).catch((err: unknown) => log.error({ err }, 'an import was not released'));
  }
}

function abandoned(path: string): ImportedComponent {
  const message = `Importing it was begun ${LIMITS.maxImportAttempts} times and never ended; it is not begun again`;
  return { path, error: { code: 'RUN_ABANDONED', message, errors: [] } };
}

/** Why it has to be tried again. */
type Later = 'account-full' | 'node-full' | 'no-packages';

async function importOne(
  { sql, components, saveFiles, registry, builder, log }: ImportOptions,
  { id, scope, ...who }: ClaimedImport,
  { path, waitedMs }: BegunComponent,
): Promise<ImportedComponent | Later> {
  try {
    const list = (component: ComponentFiles) => builder.listMissingFiles(who.accountId, component);
    const files = await collectFiles(createStoredFiles(sql, id), path, list);
    const saved = await saveFiles(who, files);
    const made =
      scope === 'draft'
        ? saved
        : scope === 'account'
          ? await components.publish(who, saved.id)
          : await registry.publish(who, saved.id);
    return { path, componentId: made.id, ...(made.key === undefined ? {} : { key: made.key }), version: made.version };
  } catch (error) {
    if (!(error instanceof HeadwaterError)) {
      log.error({ err: error, import: id, path }, 'a component could not be imported');
      return { path, error: { code: 'INTERNAL', message: 'Something went wrong on our side', errors: [] } };
    }
    if (error.code === 'RATE_LIMITED') return 'account-full';
    if (error.code === 'UNAVAILABLE') {
      // Only errors about packages have a retry time.
      if (error.retryAfterSeconds === undefined) return 'node-full';
      if (waitedMs < LIMITS.importPatienceMs) return 'no-packages';
    }
    const errors = error.fields.slice(0, MAX_ERRORS).map(cleaned);
    return { path, error: { code: error.code, message: short(error.message), errors } };
  }
}

/**
 * Names in it are the author's: of props, and of files by their source map. Postgres takes no NUL.
 */
function cleaned({ path, message, file, ...place }: FieldError): FieldError {
  return { path: short(path), message: short(message), ...(file === undefined ? {} : { file: short(file) }), ...place };
}

function short(text: string): string {
  return text.slice(0, MAX_ERROR_CHARS).replaceAll('\0', '').toWellFormed();
}
