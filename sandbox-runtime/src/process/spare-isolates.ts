import { GuestIsolate, type IsolateHandlers, type IsolateOptions } from './guest-isolate.ts';

/** After an isolate was taken, so that making the next one does not delay what it was taken for. */
const REFILL_DELAY_MS = 20;

/** Whom a spare isolate will belong to: nobody until it is taken, and it runs nothing before. */
interface LateHandlers {
  target: IsolateHandlers | undefined;
}

interface Spare {
  guest: GuestIsolate;
  late: LateHandlers;
}

/**
 * Keeps one isolate booted for a component that has none yet: making one from the snapshot takes longer than most components
 * take to load. It has never seen a component, so it can become anybody's of this process's tenant.
 */
export class SpareIsolates {
  readonly #options: Omit<IsolateOptions, 'handlers'>;
  #spare: Spare | undefined;
  #refills = false;

  constructor(options: Omit<IsolateOptions, 'handlers'>) {
    this.#options = options;
    this.#spare = this.#make(options.memoryMb);
  }

  take(memoryMb: number, handlers: IsolateHandlers): GuestIsolate {
    const isSpare = this.#spare !== undefined && memoryMb === this.#options.memoryMb;
    const taken = (isSpare ? this.#spare : undefined) ?? this.#make(memoryMb);
    taken.late.target = handlers;
    if (isSpare) {
      this.#spare = undefined;
      if (!this.#refills) setTimeout(() => this.#fill(), REFILL_DELAY_MS);
      this.#refills = true;
    }
    return taken.guest;
  }

  #fill(): void {
    this.#refills = false;
    this.#spare ??= this.#make(this.#options.memoryMb);
  }

  #make(memoryMb: number): Spare {
    const late: LateHandlers = { target: undefined };
    const handlers: IsolateHandlers = {
      post: (kind, run, a, b, c) => late.target?.post(kind, run, a, b, c),
      dbGet: (run, key) => late.target?.dbGet(run, key) ?? Promise.resolve('ethere is no run'),
      catastrophe: () => late.target?.catastrophe(),
    };
    return { guest: new GuestIsolate({ ...this.#options, memoryMb, handlers }), late };
  }
}
