import { FairCache } from '../fairness/index.ts';
import { hasSecrets } from './make-forms.ts';
import { createRedactor, type MadeRedactor, type Redactor, type SecretValue } from './redactor.ts';

/**
 * A redactor that does not keep its forms: there are thousands of redactors, and the forms of a
 * secret are many times its size.
 */
export interface UnkeptRedactor extends Redactor {
  /** The same redactor as long as a caller holds it. */
  made(): MadeRedactor;
}

/**
 * As createRedactor, for sources in memory that may run. Used directly, it makes its forms nearly
 * each time.
 */
export function createUnkeptRedactor(secrets: readonly SecretValue[]): UnkeptRedactor | undefined {
  if (!hasSecrets(secrets)) return undefined;
  let known: WeakRef<MadeRedactor> | undefined;
  const made = () => {
    const redactor = known?.deref() ?? (createRedactor(secrets) as MadeRedactor);
    if (known?.deref() === undefined) known = new WeakRef(redactor);
    return redactor;
  };
  return {
    made,
    ready: () => made().ready(),
    text: (text) => made().text(text),
    json: (text) => made().json(text),
    jsonInTurns: (text) => made().jsonInTurns(text),
  };
}

/**
 * Its forms are made in turns: used by itself it would make them in one piece. They are there for
 * as long as the answer is held.
 */
export async function readyRedactor(redactor: UnkeptRedactor | undefined): Promise<MadeRedactor | undefined> {
  const made = redactor?.made();
  await made?.ready();
  return made;
}

/** A redactor that is kept for the next run. */
export interface KeptRedactor {
  accountId: string;
  redactor: MadeRedactor;
}

export interface KeptRedactors {
  /**
   * The object itself, of a redactor that is ready. A run that has one which is not kept any more
   * still has it.
   */
  keep(kept: KeptRedactor): void;
}

/**
 * Keeps the most recently used redactors of all accounts, up to `maxBytes` of their real size.
 * Always keeps the newest.
 */
export function createKeptRedactors(maxBytes: number): KeptRedactors {
  const cache = new FairCache<MadeRedactor, KeptRedactor>({ maxWeight: maxBytes, keepsNewest: true });
  return {
    keep(kept) {
      const { accountId, redactor } = kept;
      if (cache.get(redactor) === undefined) cache.set(accountId, redactor, kept, redactor.bytes());
    },
  };
}
