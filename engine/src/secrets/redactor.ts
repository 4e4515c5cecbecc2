import { createGiveWay } from '../give-way.ts';
import { budgetFor, createFormMatcher, isSpent, type Pattern } from './match-forms.ts';
import { formsOf } from './secret-forms.ts';

export interface SecretValue {
  /** Shown in place of the value: `[secret:token]`. */
  name: string;
  /** A string, or an array or object with strings somewhere in it. Everything else is not looked for. */
  value: unknown;
}

/** Takes known values out of what leaves a run. */
export interface Redactor {
  /** Gets ready in turns with others; what is asked before takes its time in one piece. A secret is some twenty forms. */
  ready(): Promise<void>;
  text(text: string): string;
  /** JSON text; stays valid JSON, equal in everything but the strings and keys that held a value. */
  json(text: string): string;
}

const MAX_NAME_CHARS = 64;
/** Instead of a text that cannot be looked through within bounds. */
const WITHHELD = '[secrets: this text was withheld, it repeats them too often]';

/**
 * Finds the values in every form of secret-forms.ts. Undefined where there is nothing to look for, so that a source
 * without secrets pays nothing. Values of fewer than 6 characters, numbers and booleans are not looked for. What is made of
 * a value depends on its name alone, so texts that differed still differ. The forms are made by `ready`, or at the first use.
 */
export function createRedactor(secrets: readonly SecretValue[]): Redactor | undefined {
  const named = secrets.flatMap(({ name, value }) => namedStrings(name, value));
  if (named.length === 0) return undefined;
  const made = createFormMatcher();
  let next = 0;
  const addNext = () => made.add(patternsOf(named[next++] as NamedString));
  const matcher = () => {
    while (next < named.length) addNext();
    return made;
  };
  return {
    async ready() {
      const giveWay = createGiveWay();
      while (next < named.length) {
        addNext();
        await giveWay();
      }
    },
    text(text) {
      const budget = budgetFor(text);
      const clean = matcher().replace(text, budget);
      return isSpent(budget) ? WITHHELD : clean;
    },
    json(text) {
      const budget = budgetFor(text);
      if (!matcher().finds(text, budget)) return text;
      const clean = replaceStrings(text, (string) => matcher().replace(string, budget));
      return isSpent(budget) ? JSON.stringify(WITHHELD) : clean;
    },
  };
}

interface NamedString {
  name: string;
  value: string;
}

function namedStrings(name: string, value: unknown): NamedString[] {
  if (typeof value === 'string') return [{ name, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => namedStrings(`${name}.${key}`, item));
}

function patternsOf({ name, value }: NamedString): Pattern[] {
  const shown = name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
  const mark = `[secret:${shown}]`;
  return formsOf(value).map((text) => ({ text, mark }));
}

/** Each string by itself: a value may look like a part of the syntax around it (`","`) or end in half an escape. */
function replaceStrings(json: string, replace: (text: string) => string): string {
  let replaced = '';
  let done = 0;
  for (let open = json.indexOf('"'); open >= 0; open = json.indexOf('"', done)) {
    const end = endOfString(json, open);
    const token = json.slice(open, end);
    const text = JSON.parse(token) as string;
    const clean = replace(text);
    replaced += json.slice(done, open) + (clean === text ? token : JSON.stringify(clean));
    done = end;
  }
  return replaced + json.slice(done);
}

function endOfString(json: string, open: number): number {
  for (let quote = json.indexOf('"', open + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let first = quote;
    while (json[first - 1] === '\\') first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return json.length;
}
