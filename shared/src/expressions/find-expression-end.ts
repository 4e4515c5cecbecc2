export type ExpressionEnd = { ok: true; end: number } | { ok: false; message: string; at: number };

/**
 * `isValue`: a slash that follows divides, and begins no regular expression. Absent where the token
 * changes nothing of that.
 */
type Token = { end: number; isValue?: boolean } | { message: string };

/**
 * Owner of an open brace: the expression itself, or a `${`, after which its template literal
 * continues.
 */
type Brace = 'plain' | 'template';

/** After these words a slash begins a regular expression; after any other one it divides. */
const OPERATOR_WORDS = [
  'typeof',
  'instanceof',
  'in',
  'of',
  'void',
  'delete',
  'new',
  'await',
  'yield',
  'return',
  'case',
];
const WORD = /[\p{ID_Continue}$\\]+/uy;
const LINE_END = /[\n\r\u2028\u2029]/;

/**
 * Finds the `}}` that ends an expression of JavaScript which begins at `from`: one that is in no
 * string, template literal, regular expression or comment, and closes no brace of the expression.
 * It reads no more of the language than that takes.
 */
export function findExpressionEnd(text: string, from: number): ExpressionEnd {
  const braces: Brace[] = [];
  let isAfterValue = false;
  let at = from;
  while (at < text.length) {
    if (braces.length === 0 && text.startsWith('}}', at)) return { ok: true, end: at };
    const token = readToken(text, at, isAfterValue, braces);
    if ('message' in token) return { ok: false, message: token.message, at };
    isAfterValue = token.isValue ?? isAfterValue;
    at = token.end;
  }
  return { ok: false, message: 'The expression that begins here has no }} at its end', at: from };
}

function readToken(text: string, at: number, isAfterValue: boolean, braces: Brace[]): Token {
  const char = text[at] as string;
  switch (char) {
    case '"':
    case "'":
      return readString(text, at, char);
    case '`':
      return readTemplate(text, at, braces);
    case '/':
      return readSlash(text, at, isAfterValue);
    case '{':
      braces.push('plain');
      return { end: at + 1, isValue: false };
    case '}':
      return braces.pop() === 'template' ? readTemplate(text, at, braces) : { end: at + 1, isValue: true };
    case ')':
    case ']':
      return { end: at + 1, isValue: true };
    case '+':
    case '-':
      // `a++ / b` divides, and so does `++a / b`: the doubled sign changes nothing.
      return text[at + 1] === char ? { end: at + 2 } : { end: at + 1, isValue: false };
    default:
      return readWord(text, at, char);
  }
}

function readWord(text: string, at: number, char: string): Token {
  WORD.lastIndex = at;
  if (!WORD.test(text)) return char.trim() === '' ? { end: at + 1 } : { end: at + 1, isValue: false };
  const end = WORD.lastIndex;
  // `a.in / 2`: a property of any name is a value.
  return { end, isValue: text[at - 1] === '.' || !OPERATOR_WORDS.includes(text.slice(at, end)) };
}

function readString(text: string, from: number, quote: string): Token {
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === quote) return { end: at + 1, isValue: true };
    if (char === '\\') at += text.startsWith('\r\n', at + 1) ? 2 : 1;
    else if (char === '\n' || char === '\r') break;
  }
  return { message: `The text that begins here has no ${quote} at its end` };
}

/** From a backtick, or from the brace that ends a `${…}`, to behind the next backtick or `${`. */
function readTemplate(text: string, from: number, braces: Brace[]): Token {
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === '`') return { end: at + 1, isValue: true };
    if (char === '\\') at += 1;
    else if (char === '$' && text[at + 1] === '{') {
      braces.push('template');
      return { end: at + 2, isValue: false };
    }
  }
  return { message: 'The template literal that begins here has no ` at its end' };
}

function readSlash(text: string, at: number, isAfterValue: boolean): Token {
  if (text[at + 1] === '/') return readLineComment(text, at);
  if (text[at + 1] === '*') {
    const end = text.indexOf('*/', at + 2);
    return end < 0 ? { message: 'The comment that begins here has no */ at its end' } : { end: end + 2 };
  }
  return isAfterValue ? { end: at + 1, isValue: false } : readRegExp(text, at);
}

function readLineComment(text: string, from: number): Token {
  for (let at = from; at < text.length; at++) if (LINE_END.test(text[at] as string)) return { end: at + 1 };
  return { message: 'The comment that begins here ends nowhere: a // comment goes on to the end of its line' };
}

function readRegExp(text: string, from: number): Token {
  let isInClass = false;
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at] as string;
    if (LINE_END.test(char)) break;
    if (char === '\\') at += 1;
    else if (char === '[') isInClass = true;
    else if (char === ']') isInClass = false;
    else if (char === '/' && !isInClass) return { end: at + 1, isValue: true };
  }
  return { message: 'The regular expression that begins here has no / at its end' };
}
