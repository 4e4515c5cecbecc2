import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS } from '@headwater/shared';
import { createRecentReads } from '../recent-reads.ts';

/** For a run. */
export interface HeldBundle {
  bundle: ComponentBundle;
  /** The run has ended. Once. */
  letGo(): void;
}

/**
 * The bundle of a component that the account may use; undefined where it is gone. Waits while the account's runs hold as much as they
 * may together.
 */
export type HoldBundle = (accountId: string, componentId: string) => Promise<HeldBundle | undefined>;

export interface BundlesOptions {
  /** Of a saved component, which never changes. */
  read: (componentId: string) => Promise<ComponentBundle | undefined>;
  /** Characters of what runs of one account may hold at the same time; a single one may be larger. */
  maxHeldChars: number;
}

const MAX_KEPT = 2_000;
/** Two bytes each where they are not Latin. One account's may push out those of others; they never take the node's memory. */
const MAX_KEPT_CHARS = 256 * 1024 * 1024;
const MAX_KNOWN_SIZES = 10_000;

interface Held {
  chars: number;
  runs: number;
  bundle: Promise<ComponentBundle | undefined>;
}

interface Account {
  chars: number;
  held: Map<string, Held>;
  /** In the order of their arrival. */
  waiting: { componentId: string; resolve: (held: Held) => void }[];
}

/**
 * Bundles of up to 24 MB, for runs: the most recently used are kept, those of runs under way are in memory once, and runs of one
 * account that would hold more than their share of it wait for each other. One account's runs of as many large components would end the
 * node otherwise.
 */
export function createBundles({ read, maxHeldChars }: BundlesOptions): HoldBundle {
  const accounts = new Map<string, Account>();
  const sizes = new Map<string, number>();
  const kept = createRecentReads<ComponentBundle>({
    read,
    maxCount: MAX_KEPT,
    maxWeight: MAX_KEPT_CHARS,
    weightOf: charsOf,
  });

  function mayHold(account: Account, componentId: string): boolean {
    if (account.held.has(componentId) || account.held.size === 0) return true;
    // Until it has been read it may be as large as any.
    return account.chars + (sizes.get(componentId) ?? ACCOUNT_LIMITS.maxBundleBytes.max) <= maxHeldChars;
  }

  function take(account: Account, componentId: string): Held {
    const held = account.held.get(componentId) ?? begin(account, componentId);
    held.runs += 1;
    return held;
  }

  function begin(account: Account, componentId: string): Held {
    const chars = sizes.get(componentId) ?? ACCOUNT_LIMITS.maxBundleBytes.max;
    const held: Held = { chars, runs: 0, bundle: kept.get(componentId) };
    account.held.set(componentId, held);
    account.chars += chars;
    return held;
  }

  function resize(account: Account, held: Held, chars: number): void {
    account.chars += chars - held.chars;
    held.chars = chars;
    serve(account);
  }

  function letGo(accountId: string, account: Account, componentId: string): void {
    const held = account.held.get(componentId);
    if (held === undefined || --held.runs > 0) return;
    account.held.delete(componentId);
    resize(account, held, 0);
    if (account.held.size === 0) accounts.delete(accountId);
  }

  function serve(account: Account): void {
    for (let next = account.waiting[0]; next !== undefined && mayHold(account, next.componentId); ) {
      account.waiting.shift();
      next.resolve(take(account, next.componentId));
      next = account.waiting[0];
    }
  }

  function whenFree(account: Account, componentId: string): Held | Promise<Held> {
    const isFirst = account.waiting.length === 0 || account.held.has(componentId);
    if (isFirst && mayHold(account, componentId)) return take(account, componentId);
    return new Promise((resolve) => account.waiting.push({ componentId, resolve }));
  }

  function know(componentId: string, chars: number): void {
    sizes.delete(componentId);
    sizes.set(componentId, chars);
    if (sizes.size > MAX_KNOWN_SIZES) sizes.delete(sizes.keys().next().value as string);
  }

  return async (accountId, componentId) => {
    const account = accounts.get(accountId) ?? { chars: 0, held: new Map(), waiting: [] };
    accounts.set(accountId, account);
    const held = await whenFree(account, componentId);
    const end = () => letGo(accountId, account, componentId);
    try {
      const bundle = await held.bundle;
      if (bundle === undefined) {
        end();
        return undefined;
      }
      know(componentId, charsOf(bundle));
      resize(account, held, charsOf(bundle));
      return { bundle, letGo: end };
    } catch (error) {
      end();
      throw error;
    }
  };
}

function charsOf({ code, sourceMap }: ComponentBundle): number {
  return code.length + sourceMap.length;
}
