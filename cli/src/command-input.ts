import { usageError } from './cli-error.ts';

/**
 * The arguments and options of one call, by name. Asking for one that the command does not define
 * is a defect.
 */
export class CommandInput {
  readonly #arguments: ReadonlyMap<string, string | readonly string[] | undefined>;
  readonly #options: ReadonlyMap<string, unknown>;

  constructor(
    values: ReadonlyMap<string, string | readonly string[] | undefined>,
    options: ReadonlyMap<string, unknown>,
  ) {
    this.#arguments = values;
    this.#options = options;
  }

  /** A required argument. */
  argument(name: string): string {
    const value = this.optionalArgument(name);
    if (value === undefined) throw new Error(`The argument ${name} is not required`);
    return value;
  }

  optionalArgument(name: string): string | undefined {
    const value = this.#known(this.#arguments, name);
    if (typeof value === 'object') throw new Error(`The argument ${name} is a list`);
    return value;
  }

  words(name: string): readonly string[] {
    const value = this.#known(this.#arguments, name);
    return typeof value === 'object' ? value : value === undefined ? [] : [value];
  }

  text(name: string): string | undefined {
    const value = this.#known(this.#options, name);
    return typeof value === 'string' ? value : undefined;
  }

  list(name: string): readonly string[] {
    const value = this.#known(this.#options, name);
    return Array.isArray(value) ? value.map(String) : [];
  }

  flag(name: string): boolean {
    return this.#known(this.#options, name) === true;
  }

  /** A whole number from `min` to `max`. */
  count(name: string, { min, max }: { min: number; max: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw usageError(`--${name} ${text} is not a whole number from ${min} to ${max}`);
    }
    return value;
  }

  #known<T>(values: ReadonlyMap<string, T>, name: string): T | undefined {
    if (!values.has(name)) throw new Error(`The command does not define ${name}`);
    return values.get(name);
  }
}
