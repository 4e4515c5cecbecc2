import { now, toText } from './intrinsics.ts';
import { asInterface } from './web-idl.ts';

/** Entries kept; the oldest go first. */
const MAX_ENTRIES = 1_000;

interface Entry {
  name: string;
  entryType: 'mark' | 'measure';
  startTime: number;
  duration: number;
  detail: unknown;
}

/**
 * `performance` with a clock of whole milliseconds: a finer one would help to read other processes'
 * secrets out of the time that something takes.
 */
export class GuestPerformance {
  readonly #startedAt: number;
  #entries: Entry[] = [];

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  get timeOrigin(): number {
    return this.#startedAt;
  }

  now(): number {
    return now() - this.#startedAt;
  }

  mark(name: string, options: { startTime?: number; detail?: unknown } = {}): Entry {
    return this.#add({
      name: toText(name),
      entryType: 'mark',
      startTime: options.startTime ?? this.now(),
      duration: 0,
      detail: options.detail ?? null,
    });
  }

  measure(name: string, start?: string | { start?: unknown; end?: unknown; detail?: unknown }, end?: string): Entry {
    const given = typeof start === 'object' && start !== null ? start : { start, end };
    const from = given.start === undefined ? 0 : this.#timeOf(given.start);
    const to = given.end === undefined ? this.now() : this.#timeOf(given.end);
    const detail = 'detail' in given ? (given.detail ?? null) : null;
    return this.#add({ name: toText(name), entryType: 'measure', startTime: from, duration: to - from, detail });
  }

  getEntries(): Entry[] {
    return [...this.#entries].sort((first, second) => first.startTime - second.startTime);
  }

  getEntriesByName(name: string, type?: string): Entry[] {
    return this.getEntries().filter((entry) => entry.name === name && (type ?? entry.entryType) === entry.entryType);
  }

  getEntriesByType(type: string): Entry[] {
    return this.getEntries().filter((entry) => entry.entryType === type);
  }

  clearMarks(name?: string): void {
    this.#clear('mark', name);
  }

  clearMeasures(name?: string): void {
    this.#clear('measure', name);
  }

  /** Kept in no list: there are no entries of resources. */
  markResourceTiming(): void {}

  toJSON(): { timeOrigin: number } {
    return { timeOrigin: this.#startedAt };
  }

  #timeOf(moment: unknown): number {
    if (typeof moment === 'number') return moment;
    const mark = this.#entries.findLast((entry) => entry.entryType === 'mark' && entry.name === moment);
    if (mark === undefined)
      throw new DOMException(`The "${String(moment)}" performance mark has not been set`, 'SyntaxError');
    return mark.startTime;
  }

  #add(entry: Entry): Entry {
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    return entry;
  }

  #clear(type: string, name: string | undefined): void {
    this.#entries = this.#entries.filter(
      (entry) => entry.entryType !== type || (name !== undefined && entry.name !== name),
    );
  }
}
asInterface(GuestPerformance, 'Performance');
