import { GuestIsolate, type IsolateHandlers, type IsolateOptions } from './guest-isolate.ts';

/**
 * Delay after an isolate is taken, so that the next one's creation does not slow down the task that
 * took it.
 */
const REFILL_DELAY_MS = 20;

/** The later owner of a spare isolate. It has none until it is taken, and runs no code before. */
interface LateHandlers {
  target: IsolateHandlers | undefined;
}

interface Spare {
  guest: GuestIsolate;
  late: LateHandlers;
}

/**
 * Keeps one booted isolate for a new component: making one from the snapshot takes longer than most
 * components take to load. It has run no component, so it can serve any component of this process's
 * tenant. Its memory is that of the last isolate taken, the tenant's limit.
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
