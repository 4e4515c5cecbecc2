import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS } from '@headwater/shared';
import { FairCache } from '../fairness/index.ts';

/** For a run. */
export interface HeldBundle {
  bundle: ComponentBundle;
  /** The run has ended. Once. */
  letGo(): void;
}

/**
 * The bundle of a component that the account may use; undefined if it is gone. Waits while the
 * account's runs hold the maximum together.
 */
export type HoldBundle = (accountId: string, componentId: string) => Promise<HeldBundle | undefined>;

export interface BundlesOptions {
  /** Reads the bundle of a saved component, which never changes. */
  read: (componentId: string) => Promise<ComponentBundle | undefined>;
  /**
   * Characters of the bundles that runs of one account may hold at the same time; a single bundle
   * may be larger.
   */
  maxHeldChars: number;
}

const MAX_KEPT = 2_000;
/**
 * Two bytes per character unless they are Latin. One account's bundles never fill the node's
 * memory, nor evict those of others.
 */
const MAX_KEPT_CHARS = 256 * 1024 * 1024;
const MAX_KNOWN_SIZES = 10_000;

/**
 * Bundles of up to 24 MB, for runs. The most recently used stay in memory, and concurrent runs
 * share one copy. Runs of one account wait for each other if they would hold more than the
 * account's share. Otherwise one account's large components would exhaust the node's memory.
 */
export function createBundles({ read, maxHeldChars }: BundlesOptions): HoldBundle {
  const accounts = new Map<string, AccountBundles>();
  const sizes = createSizes();
  const kept = new FairCache<string, ComponentBundle>({ maxCount: MAX_KEPT, maxWeight: MAX_KEPT_CHARS });

  async function readOf(accountId: string, componentId: string): Promise<ComponentBundle | undefined> {
    const known = kept.get(componentId);
    if (known !== undefined) return known;
    const bundle = await read(componentId);
    if (bundle !== undefined) kept.set(accountId, componentId, bundle, charsOf(bundle));
    return bundle;
  }

  return async (accountId, componentId) => {
    const readOne = (id: string) => readOf(accountId, id);
    const account = accounts.get(accountId) ?? new AccountBundles(readOne, sizes.of, maxHeldChars);
    accounts.set(accountId, account);
    const held = await account.whenFree(componentId);
    const letGo = (): void => {
      account.letGo(held);
      if (account.isEmpty) accounts.delete(accountId);
    };
    try {
      const bundle = await held.bundle;
      if (bundle !== undefined) {
        sizes.know(componentId, charsOf(bundle));
        account.resize(held, charsOf(bundle));
        return { bundle, letGo };
      }
    } catch (error) {
      letGo();
      throw error;
    }
    letGo();
    return undefined;
  };
}

interface Held {
  componentId: string;
  chars: number;
  runs: number;
  bundle: Promise<ComponentBundle | undefined>;
}

/** Bundles that the runs of one account hold, and the runs that wait for one. */
class AccountBundles {
  readonly #read: (componentId: string) => Promise<ComponentBundle | undefined>;
  readonly #sizeOf: (componentId: string) => number;
  readonly #maxChars: number;
  readonly #held = new Map<string, Held>();
  /** In the order of their arrival. */
  readonly #waiting: { componentId: string; resolve: (held: Held) => void }[] = [];
  #chars = 0;

  constructor(
    read: (componentId: string) => Promise<ComponentBundle | undefined>,
    sizeOf: (componentId: string) => number,
    maxChars: number,
  ) {
    this.#read = read;
    this.#sizeOf = sizeOf;
    this.#maxChars = maxChars;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  async whenFree(componentId: string): Promise<Held> {
    const isNext = this.#waiting.length === 0 || this.#held.has(componentId);
    if (isNext && this.#mayHold(componentId)) return this.#take(componentId);
    return new Promise((resolve) => this.#waiting.push({ componentId, resolve }));
  }

  letGo(held: Held): void {
    held.runs -= 1;
    if (held.runs > 0) return;
    this.#held.delete(held.componentId);
    this.resize(held, 0);
  }

  resize(held: Held, chars: number): void {
    this.#chars += chars - held.chars;
    held.chars = chars;
    for (let [next] = this.#waiting; next !== undefined && this.#mayHold(next.componentId); [next] = this.#waiting) {
      this.#waiting.shift();
      next.resolve(this.#take(next.componentId));
    }
  }

  #mayHold(componentId: string): boolean {
    if (this.#held.has(componentId) || this.isEmpty) return true;
    return this.#chars + this.#sizeOf(componentId) <= this.#maxChars;
  }

  #take(componentId: string): Held {
    const held = this.#held.get(componentId) ?? this.#begin(componentId);
    held.runs += 1;
    return held;
  }

  #begin(componentId: string): Held {
    const held = { componentId, chars: this.#sizeOf(componentId), runs: 0, bundle: this.#read(componentId) };
    this.#held.set(componentId, held);
    this.#chars += held.chars;
    return held;
  }
}

/** Until a component has been read it may be as large as any. */
function createSizes() {
  const sizes = new Map<string, number>();
  return {
    of: (componentId: string): number => sizes.get(componentId) ?? ACCOUNT_LIMITS.maxBundleBytes.max,
    know(componentId: string, chars: number): void {
      sizes.delete(componentId);
      sizes.set(componentId, chars);
      if (sizes.size > MAX_KNOWN_SIZES) sizes.delete(sizes.keys().next().value as string);
    },
  };
}

function charsOf({ code, sourceMap }: ComponentBundle): number {
  return code.length + sourceMap.length;
}
