import type { Fragment } from 'postgres';
import type { Sql, Transaction } from './database.ts';

/** Values that FragmentParts can pass as a parameter. */
type Value = string | number | null | readonly (string | null)[] | readonly (number | null)[];

/**
 * The client remembers each it was given, for as long as it lives: the same text gets the same one.
 */
const templates = new Map<string, TemplateStringsArray>();

/**
 * Makes one fragment of a statement out of parts that are not known beforehand, as `sql` makes one
 * of a template. Fragments put together of others would do as well; but each is a promise that only
 * a full collection takes away, and a row of ten columns is twenty of them.
 */
export class FragmentParts {
  readonly #texts = [''];
  readonly #values: Value[] = [];

  /** The code's own words: as many as there are of them are remembered. */
  text(text: string): this {
    this.#texts[this.#texts.length - 1] += text;
    return this;
  }

  value(value: Value): this {
    this.#values.push(value);
    this.#texts.push('');
    return this;
  }

  /** Adds each with `, ` before all but the first. */
  list<T>(items: readonly T[], add: (item: T) => void): this {
    for (const [index, item] of items.entries()) {
      if (index > 0) this.text(', ');
      add(item);
    }
    return this;
  }

  fragment(sql: Sql | Transaction): Fragment {
    return sql(templateOf(this.#texts), ...(this.#values as (string | number | null)[]));
  }
}

function templateOf(texts: readonly string[]): TemplateStringsArray {
  const key = texts.join('\0');
  const known = templates.get(key);
  if (known !== undefined) return known;
  const template = Object.assign([...texts], { raw: texts });
  templates.set(key, template);
  return template;
}
