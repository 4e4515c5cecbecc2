import { createGiveWay } from '@headwater/shared';
import { hasSecrets, makeForms, type MadeForms, type SecretValue } from './make-forms.ts';
import { type Budget, budgetFor, CUT_MARK, type FormMatcher, type Hit, isSpent, type Turns } from './match-forms.ts';

export type { SecretValue } from './make-forms.ts';

/** Removes known values from the output of a run. */
export interface Redactor {
  /**
   * Makes the forms of the secrets (some twenty each), and yields between them. An earlier call of
   * another method makes them in one piece.
   */
  ready(): Promise<void>;
  text(text: string): string;
  /**
   * JSON text; stays valid JSON, equal in everything but the strings and keys that held a value.
   */
  json(text: string): string;
  /** As `json`, and lets others have the thread: megabytes that are made for it take some 50 ms. */
  jsonInTurns(text: string): Promise<string>;
}

/** A redactor that keeps its forms. */
export interface MadeRedactor extends Redactor {
  /** Approximate memory of its forms, once they are ready. */
  bytes(): number;
}

const BACKSLASH = 0x5c;
/** Instead of a text that cannot be looked through within bounds. */
const WITHHELD = '[secrets: this text was withheld, it repeats them too often]';

/**
 * Finds the values in every form of secret-forms.ts. Undefined without secrets, so that a source
 * without secrets pays nothing. Ignores values of fewer than 6 characters, numbers and booleans.
 * The mark for a value depends only on its name, so texts that differed still differ. The forms are
 * made by `ready`, or at the first use. If secrets are too many or too large, the shortest get all
 * their forms: tokens rather than files.
 */
export function createRedactor(secrets: readonly SecretValue[]): MadeRedactor | undefined {
  if (!hasSecrets(secrets)) return undefined;
  let made: MadeForms | undefined;
  // The first caller makes the forms. A caller that comes while they are made in turns finishes
  // them at once.
  const making = makeForms(secrets, (forms) => (made = forms));
  const matcher = () => {
    atOnce(making);
    return (made as MadeForms).matcher;
  };
  function* json(text: string): Turns<string> {
    const budget = budgetFor(text);
    const clean = yield* replaceInStrings(text, matcher(), budget);
    return isSpent(budget) ? JSON.stringify(WITHHELD) : clean;
  }
  return {
    ready: async () => (made === undefined ? inTurns(making) : undefined),
    bytes: () => made?.bytes ?? 0,
    text(text) {
      const budget = budgetFor(text);
      const shown = withoutExcerpts(text);
      const clean = atOnce(matcher().replace(replaceInLists(shown, matcher(), budget), budget));
      return isSpent(budget) ? WITHHELD : clean;
    },
    json: (text) => atOnce(json(text)),
    jsonInTurns: (text) => inTurns(json(text)),
  };
}

function atOnce<T>(turns: Turns<T>): T {
  for (;;) {
    const turn = turns.next();
    if (turn.done) return turn.value;
  }
}

async function inTurns<T>(turns: Turns<T>): Promise<T> {
  const giveWay = createGiveWay();
  for (;;) {
    const turn = turns.next();
    if (turn.done) return turn.value;
    await giveWay();
  }
}

/**
 * V8's error for a text that is not JSON. For a long text it shows ten characters before and after
 * the place.
 */
const NO_JSON = ' is not valid JSON';
const EXCERPT = /(?:\.\.\."[^]*"(?:\.\.\.)?|"[^]*"\.\.\.)$/;
/** With quotes and dots. */
const MAX_EXCERPT_CHARS = 48;

/**
 * `JSON.parse(this.key)` shows a part of the key, which is none of its forms: no part of a text is
 * shown.
 */
function withoutExcerpts(text: string): string {
  let shown = '';
  let done = 0;
  for (let at = text.indexOf(NO_JSON); at !== -1; at = text.indexOf(NO_JSON, at + 1)) {
    const before = text.slice(Math.max(done, at - MAX_EXCERPT_CHARS), at);
    shown += text.slice(done, at - before.length) + before.replace(EXCERPT, '[a text]');
    done = at;
  }
  return shown + text.slice(done);
}

/** Numbers with spaces or lines between them, as the console shows bytes; of many the first. */
const SPACED_LIST = /\d{1,3}(?:,\s+\d{1,3}){5,}(,\s+\.\.\.)?/g;

function replaceInLists(text: string, matcher: FormMatcher, budget: Budget): string {
  return text.replaceAll(SPACED_LIST, (list, cut: string | undefined) => {
    const numbers = list.slice(0, list.length - (cut?.length ?? 0)).replaceAll(/\s+/g, '');
    const dense = cut === undefined ? numbers : `${numbers},${CUT_MARK}`;
    const clean = atOnce(matcher.replace(dense, budget));
    return clean === dense || isSpent(budget) ? list : clean;
  });
}

/** Cost of reading a string and writing it again, besides the search in it. */
const STEPS_PER_STRING = 100;

/**
 * Each string by itself: a value may look like a part of the syntax around it (`","`) or end in
 * half an escape. Only strings in which something is found in the text are read: there can be half
 * a million of them, a second of the node's thread.
 */
function* replaceInStrings(json: string, matcher: FormMatcher, budget: Budget): Turns<string> {
  let replaced = '';
  let done = 0;
  let walked = 0;
  let hit = yield* matcher.find(json, 0, budget);
  while (hit !== undefined) {
    const [open, end] = stringReaching(json, walked, hit.start);
    walked = open;
    if (open >= hit.end) {
      const isList = isWholeList(json, hit);
      if (isList) {
        const mark = JSON.stringify(hit.mark);
        replaced += json.slice(done, hit.start) + mark;
        budget.room -= hit.start - done + mark.length;
        if (isSpent(budget)) break;
        done = hit.end;
      }
      hit = yield* matcher.find(json, isList ? hit.end : hit.start + 1, budget);
      continue;
    }
    budget.steps -= STEPS_PER_STRING;
    const token = json.slice(open, end);
    const text = JSON.parse(token) as string;
    const clean = yield* matcher.replace(text, budget);
    if (isSpent(budget)) break;
    replaced += json.slice(done, open) + (clean === text ? token : JSON.stringify(clean));
    done = end;
    walked = end;
    hit = yield* matcher.find(json, end, budget);
  }
  return done === 0 ? json : replaced + json.slice(done);
}

const BYTES = /^\d{1,3}(?:,\d{1,3})+$/;

/**
 * Bytes as JSON writes a buffer, outside of strings: the elements of a list from one comma or
 * bracket to another.
 */
function isWholeList(json: string, { start, end }: Hit): boolean {
  if (!'[,'.includes(json.charAt(start - 1)) || !',]'.includes(json.charAt(end))) return false;
  return BYTES.test(json.slice(start, end));
}

/**
 * The first string from `from` on that ends behind `place`; `from` is outside of strings. Without
 * such a string both ends are that of the text.
 */
function stringReaching(json: string, from: number, place: number): [open: number, end: number] {
  for (let open = json.indexOf('"', from); open !== -1; ) {
    const end = stringEnd(json, open);
    if (end === undefined) break;
    if (end > place) return [open, end];
    open = json.indexOf('"', end);
  }
  return [json.length, json.length];
}

/** Behind the string that begins at `open`. */
function stringEnd(json: string, open: number): number | undefined {
  for (let quote = json.indexOf('"', open + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let before = quote;
    while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return undefined;
}
