import { hasSecrets } from './make-forms.ts';
import { createRedactor, type MadeRedactor, type Redactor, type SecretValue } from './redactor.ts';

/** One that keeps nothing of what it has made: there are thousands, and a secret's forms are many times the secret. */
export interface UnkeptRedactor extends Redactor {
  /** The same one for as long as anybody has it. */
  made(): MadeRedactor;
}

/** As createRedactor, for what is in memory in case that it runs. Used by itself it makes its forms each time, or nearly. */
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

/** What is kept for the next run. */
export interface KeptRedactor {
  accountId: string;
  redactor: MadeRedactor;
}

export interface KeptRedactors {
  /** The object itself, of a redactor that is ready. A run that has one which is not kept any more still has it. */
  keep(kept: KeptRedactor): void;
}

/**
 * Keeps the most recently used redactors, of all accounts together as many bytes as are allowed, by what they really take; the newest in any
 * case. Of an account that has more than half its own go first.
 */
export function createKeptRedactors(maxBytes: number): KeptRedactors {
  /** The one used longest ago first. */
  const all = new Map<MadeRedactor, { kept: KeptRedactor; bytes: number }>();
  const accounts = new Map<string, number>();
  let total = 0;

  function count(accountId: string, bytes: number): void {
    total += bytes;
    const sum = (accounts.get(accountId) ?? 0) + bytes;
    if (sum === 0) accounts.delete(accountId);
    else accounts.set(accountId, sum);
  }

  function drop(redactor: MadeRedactor): void {
    const known = all.get(redactor);
    if (known === undefined) return;
    all.delete(redactor);
    count(known.kept.accountId, -known.bytes);
  }

  /** There is at least one beside the newest. */
  function dropOne(newest: MadeRedactor): void {
    const [large] = [...accounts].find(([, bytes]) => bytes > maxBytes / 2) ?? [];
    let oldest: MadeRedactor | undefined;
    for (const [redactor, { kept }] of all) {
      if (redactor === newest) continue;
      if (kept.accountId === large) return drop(redactor);
      oldest ??= redactor;
    }
    if (oldest !== undefined) drop(oldest);
  }

  return {
    keep(kept) {
      const { redactor, accountId } = kept;
      const known = all.get(redactor);
      const bytes = known?.bytes ?? redactor.bytes();
      all.delete(redactor);
      all.set(redactor, { kept, bytes });
      if (known !== undefined) return;
      count(accountId, bytes);
      while (total > maxBytes && all.size > 1) dropOne(redactor);
    },
  };
}
