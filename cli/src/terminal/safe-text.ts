/**
 * Characters that control a terminal or change the order of letters. All control characters except
 * line breaks and tabs, also Latin-1 ones: some terminals treat U+009B as the start of a sequence.
 */
const STEERING = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;
/** The same characters, and the whole sequences of `createStyle`. */
const STEERING_OR_STYLE =
  /\u001B\[(?:1|2|22|31|32|33|36|39)m|[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

/**
 * Escapes control characters in foreign text (names, logs, events). Escape sequences could
 * overwrite the screen, change the clipboard, or send input for the user. Line breaks and tabs
 * stay.
 */
export function safeText(text: string): string {
  return text.replaceAll(STEERING, shownAs);
}

/** The same on one line: each break with the space around it becomes one space. */
export function safeLine(text: string): string {
  const [first = '', ...rest] = safeText(text).split('\n');
  const last = rest.pop();
  if (last === undefined) return first.replaceAll('\t', ' ');
  // A pattern with \s* before the break takes minutes for a line of many spaces.
  const between = rest.map((line) => line.trim()).filter((line) => line !== '');
  return [first.trimEnd(), ...between, last.trimStart()].join(' ').replaceAll('\t', ' ');
}

/** The same for text that a command has styled: its colours stay. */
export function safeStyled(text: string): string {
  return text.replaceAll(STEERING_OR_STYLE, (found) => (found.length > 1 ? found : shownAs(found)));
}

/** JSON text that means the same; what steers is only within its strings. */
export function safeJson(json: string): string {
  return json.replaceAll(STEERING, (char) => String.raw`\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function shownAs(char: string): string {
  if (char === '\r') return '';
  const code = char.charCodeAt(0).toString(16);
  return code.length > 2 ? String.raw`\u${code}` : String.raw`\x${code.padStart(2, '0')}`;
}
