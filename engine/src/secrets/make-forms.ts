import { createFormMatcher, type FormMatcher, type Turns } from './match-forms.ts';
import { commonFormsOf, formsOf, isLookedFor, leastFormsOf, textsOf } from './secret-forms.ts';

export interface SecretValue {
  /** Shown in place of the value: `[secret:token]`. */
  name: string;
  /**
   * A string, or an array or object with strings somewhere in it. Everything else is not looked
   * for.
   */
  value: unknown;
}

const MAX_NAME_CHARS = 64;

/** Whether there is anything that a redactor would look for. */
export function hasSecrets(secrets: readonly SecretValue[]): boolean {
  return secrets.some(({ value }) => holdsSecret(value));
}

function holdsSecret(value: unknown): boolean {
  if (typeof value === 'string') return isLookedFor(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSecret);
}

export interface MadeForms {
  matcher: FormMatcher;
  bytes: number;
}

const MB = 1024 * 1024;
/** A pattern beside its characters: two objects, its place in a list and in a map. */
const PATTERN_BYTES = 100;
/** Up to this many texts there are some hundred patterns. */
const FEW_TEXTS = 8;
/**
 * The forms in which texts are searched, until a redactor has this many bytes of forms. A token has
 * some kilobytes, a key file of 2 KB has 250 KB; 64 KB of odd lines would have 50 MB.
 */
const FORMS = [
  { of: formsOf, upToBytes: 4 * MB },
  { of: commonFormsOf, upToBytes: 6 * MB },
  // Bounded as the secrets themselves are (maxRunSecretBytes).
  { of: leastFormsOf, upToBytes: Number.POSITIVE_INFINITY },
] as const;

/**
 * Adds the forms of all secrets to a matcher, one text at a time: thousands of them take a tenth of
 * a second. The shortest secrets come first. If the room ends, the rest is lines of files rather
 * than tokens.
 */
export function* makeForms(secrets: readonly SecretValue[], done: (made: MadeForms) => void): Turns<void> {
  const texts = yield* textsIn(secrets);
  const matcher = createFormMatcher(texts.length > FEW_TEXTS ? 'many' : 'few');
  let { bytes } = matcher;
  let kind = 0;
  for (const text of texts.toSorted((a, b) => a.chars - b.chars || a.text.length - b.text.length)) {
    let forms = formsFor(kind, text.text);
    // Bytes only grow and longer texts follow, so a kind of form that does not fit now never fits
    // later.
    while (bytes + forms.bytes > forms.upToBytes) forms = formsFor(++kind, text.text);
    text.forms = forms.texts;
    bytes += forms.bytes;
    yield;
  }
  // As they were given: where two secrets have a form in common, the first of them is named.
  for (const { name, forms } of texts) {
    const mark = markOf(name);
    matcher.add(forms.map((form) => ({ text: form, mark })));
    yield;
  }
  done({ matcher, bytes });
}

interface NamedText {
  text: string;
  /** The first prop that has this text; a text of several props is searched once. */
  name: string;
  /** Length of the secret that contains this line. */
  chars: number;
  /** None until they are made. */
  forms: readonly string[];
}

function* textsIn(secrets: readonly SecretValue[]): Turns<NamedText[]> {
  const found = new Map<string, NamedText>();
  for (const { name, value } of secrets) {
    for (const [prop, secret] of stringsIn(name, value)) {
      for (const text of textsOf(secret))
        if (!found.has(text)) found.set(text, { text, name: prop, chars: secret.length, forms: [] });
      yield;
    }
  }
  return [...found.values()];
}

/**
 * The name is as long as the component made it, and goes with each of thousands of texts: no more
 * of it is kept than is shown.
 */
function* stringsIn(fullName: string, value: unknown): Iterable<[name: string, secret: string]> {
  const name = fullName.slice(0, MAX_NAME_CHARS + 1);
  if (typeof value === 'string') yield [name, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) yield* stringsIn(`${name}.${key}`, item);
}

/** A form with a character beyond Latin-1 takes two bytes per character. */
const WIDE = /[^\0-\xFF]/;

function formsFor(kind: number, text: string) {
  const { of, upToBytes } = FORMS[kind] as (typeof FORMS)[number];
  const texts = of(text);
  const mayBeWide = WIDE.test(text);
  let bytes = texts.length * PATTERN_BYTES;
  for (const form of texts) bytes += form.length * (mayBeWide && WIDE.test(form) ? 2 : 1);
  return { texts, bytes, upToBytes };
}

function markOf(name: string): string {
  const shown = name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
  return `[secret:${shown}]`;
}
