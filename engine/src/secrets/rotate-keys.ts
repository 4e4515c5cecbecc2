import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../db/index.ts';
import { readChangesUnderWay, readSealedValues, type SealedValue } from './read-sealed-values.sql.ts';
import { replaceSealedValues } from './replace-sealed-values.sql.ts';
import type { Sealer } from './seal.ts';

export interface RotateKeysOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'rewrap' | 'open' | 'currentPrefix'>;
  /** Secrets of one transaction. Default 200. */
  batchSize?: number;
  /** Ends the work after the batch under way. */
  signal?: AbortSignal;
  onProgress?: (rewrapped: number) => void;
}

export interface RotationResult {
  rewrapped: number;
  /** Places of secrets that no key opens, with the reason and without the secret. */
  unopened: string[];
  /** False: interrupted, or changes of sources were still under way. Run it again. */
  complete: boolean;
}

const BATCH_SIZE = 200;
const PAUSE_MS = 500;
/** Longer than the hooks of a change take by default. */
const WAIT_MS = 5 * 60_000;

/**
 * Reseals every sealed text with the current key. Nodes that have both keys continue meanwhile:
 * they can open both forms. Each step is final, so it may stop at any time and run again. Repeats
 * until a pass rewrites nothing and no change of a source that began before it is still open. Then
 * no text under another key is left, nor comes back.
 */
export async function rotateKeys(options: RotateKeysOptions): Promise<RotationResult> {
  const deadline = Date.now() + WAIT_MS;
  let rewrapped = 0;
  let changes = await readChangesUnderWay(options.sql);
  for (;;) {
    const pass = await rewrapAll(options, rewrapped);
    rewrapped += pass.rewrapped;
    const { unopened } = pass;
    if (options.signal?.aborted) return { rewrapped, unopened, complete: false };
    const isClean = pass.found === unopened.length;
    if (isClean && changes.length === 0) return { rewrapped, unopened, complete: true };
    if (Date.now() > deadline) return { rewrapped, unopened, complete: false };
    const now = await readChangesUnderWay(options.sql);
    // A change that began while everything was under the new key has read nothing older.
    changes = isClean ? now.filter((id) => changes.includes(id)) : now;
    // Aborted: seen above, after the next pass.
    if (changes.length > 0) await sleep(PAUSE_MS, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

interface Pass {
  /** Texts under another key, whether or not they were resealed. */
  found: number;
  rewrapped: number;
  unopened: string[];
}

async function rewrapAll(options: RotateKeysOptions, before: number): Promise<Pass> {
  const { sql, sealer, batchSize = BATCH_SIZE, signal } = options;
  const pass: Pass = { found: 0, rewrapped: 0, unopened: [] };
  let last: SealedValue | undefined;
  while (!signal?.aborted) {
    const values = await readSealedValues(sql, sealer.currentPrefix(), last, batchSize);
    last = values.at(-1);
    if (last === undefined) break;
    const outcomes = values.map((value) => rewrapOne(sealer, value));
    const replacements = outcomes.filter((outcome) => outcome.ok);
    pass.found += values.length;
    pass.rewrapped += await replaceSealedValues(sql, replacements);
    pass.unopened.push(...outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.why])));
    options.onProgress?.(before + pass.rewrapped);
  }
  return pass;
}

type Rewrapped = { ok: true; value: SealedValue; sealed: string } | { ok: false; why: string };

function rewrapOne({ rewrap, open }: Pick<Sealer, 'rewrap' | 'open'>, value: SealedValue): Rewrapped {
  const { accountId } = value;
  try {
    const sealed = rewrap(accountId, value.sealed);
    // The inner layer too: a secret that does not open is found now, while the old key is still
    // there.
    open(accountId, sealed);
    return { ok: true, value, sealed };
  } catch (error) {
    const [, keyId = ''] = value.sealed.split('.', 2);
    return { ok: false, why: `${placeOf(value)}, key ${keyId}: ${(error as Error).message}` };
  }
}

function placeOf({ kind, id, prop }: SealedValue): string {
  switch (kind) {
    case 'source':
      return `source ${id}, prop ${prop}`;
    case 'deployment':
      return `deployment ${id}, step and prop ${prop}`;
    case 'environment':
      return `environment of ${id}, variable ${prop}`;
    default:
      return `${kind.replace('-', ' ')} ${id}`;
  }
}
