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
 * Keeps one isolate booted for a component that has none yet: making one from the snapshot takes
 * longer than most components take to load. It has never seen a component, so it can become
 * anybody's of this process's tenant. It has the memory that the last one taken had: that is the
 * tenant's limit.
 */
export class SpareIsolates {
  readonly #options: Omit<IsolateOptions, 'handlers'>;
  #memoryMb: number;
  #spare: Spare | undefined;
  #refills = false;

  constructor(options: Omit<IsolateOptions, 'handlers'>) {
    this.#options = options;
    this.#memoryMb = options.memoryMb;
    this.#spare = this.#make();
  }

  take(memoryMb: number, handlers: IsolateHandlers): GuestIsolate {
    if (memoryMb !== this.#memoryMb) {
      this.#memoryMb = memoryMb;
      this.#spare?.guest.dispose();
      this.#spare = undefined;
    }
    const taken = this.#spare ?? this.#make();
    taken.late.target = handlers;
    this.#spare = undefined;
    if (!this.#refills) setTimeout(() => this.#fill(), REFILL_DELAY_MS);
    this.#refills = true;
    return taken.guest;
  }

  #fill(): void {
    this.#refills = false;
    this.#spare ??= this.#make();
  }

  #make(): Spare {
    const late: LateHandlers = { target: undefined };
    const handlers: IsolateHandlers = {
      post: (raw) => late.target?.post(raw),
      dbGet: (run, key) => late.target?.dbGet(run, key) ?? Promise.resolve('ethere is no run'),
      catastrophe: () => late.target?.catastrophe(),
    };
    return { guest: new GuestIsolate({ ...this.#options, memoryMb: this.#memoryMb, handlers }), late };
  }
}
