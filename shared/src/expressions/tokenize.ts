import { findExpressionEnd } from './find-expression-end.ts';

/**
 * `at`: where the expression begins in the template, behind its `{{`. `expression` is as it was
 * written, spaces included.
 */
export type TemplatePart = { text: string } | { expression: string; at: number };

export type TokenizeOutcome = { ok: true; parts: TemplatePart[] } | { ok: false; message: string; at: number };

/**
 * Takes a template apart: `Dear {{steps.trigger.event.body.name}}` is text and an expression of
 * JavaScript. `\{{` is a `{{` that begins none, and `\\{{` a backslash before one that does; any
 * other backslash stands for itself. The text of a part is never empty, and no two texts follow
 * each other. An expression ends at the first `}}` that is not inside of a string, template
 * literal, regular expression, comment or brace of its own; whether it is one of JavaScript is for
 * a parser to say.
 */
export function tokenize(template: string): TokenizeOutcome {
  const parts: TemplatePart[] = [];
  let text = '';
  let at = 0;
  for (let opening = template.indexOf('{{'); opening >= 0; opening = template.indexOf('{{', at)) {
    const slashes = countSlashesBefore(template, opening, at);
    text += template.slice(at, opening - slashes) + '\\'.repeat(slashes >> 1);
    at = opening + 2;
    if (slashes % 2 === 1) {
      text += '{{';
      continue;
    }
    const found = findExpressionEnd(template, at);
    if (!found.ok) return found;
    const expression = template.slice(at, found.end);
    if (expression.trim() === '') return { ok: false, message: 'There is no expression between {{ and }}', at };
    if (text !== '') parts.push({ text });
    text = '';
    parts.push({ expression, at });
    at = found.end + 2;
  }
  text += template.slice(at);
  if (text !== '') parts.push({ text });
  return { ok: true, parts };
}

/**
 * Whether any string in plain data, at any depth, has to be taken apart before it can be used: it
 * has an expression, or a `\{{` that is written so because it begins none. Names of properties are
 * not templates.
 */
export function hasExpression(value: unknown): boolean {
  // Not recursive: data can be deeper than the stack.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string' && next.includes('{{')) return true;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner);
  }
  return false;
}

function countSlashesBefore(text: string, end: number, start: number): number {
  let at = end;
  while (at > start && text[at - 1] === '\\') at -= 1;
  return end - at;
}
