import { hasExpression, LIMITS } from '@headwater/shared';
import { isSealed } from '../../props/index.ts';
import type { RecordedProps } from '../../runs/index.ts';

/** The beginning that is kept of a value that is too long, as of evaluated ones. */
const CUT_CHARS = 1_024;

/**
 * The props of a step that are the same in every execution: those without an expression. A secret
 * is `[secret:<name>]`, an app its connected account. Undefined: there are none.
 */
export function staticPropsOf(configured: Readonly<Record<string, unknown>>): RecordedProps | undefined {
  let json = '{';
  const cut: string[] = [];
  for (const [name, value] of Object.entries(configured)) {
    if (value === undefined || hasExpression(value)) continue;
    const text = JSON.stringify(isSealed(value) ? `[secret:${name}]` : value);
    const key = `${json === '{' ? '' : ','}${JSON.stringify(name)}:`;
    const room = LIMITS.recordedPropsChars - 1 - json.length - key.length;
    if (text.length > room) cut.push(name);
    const shown = text.length > room ? JSON.stringify(text.slice(0, CUT_CHARS)) : text;
    if (shown.length <= room) json += key + shown;
  }
  return json === '{' && cut.length === 0 ? undefined : { json: `${json}}`, cut: JSON.stringify(cut) };
}

/**
 * Both are objects of different names, and their texts are put together: nothing is parsed for it.
 */
export function joinProps(
  fixed: RecordedProps | undefined,
  evaluated: RecordedProps | undefined,
): RecordedProps | undefined {
  if (fixed === undefined || evaluated === undefined) return fixed ?? evaluated;
  return { json: joinTexts(fixed.json, evaluated.json), cut: joinTexts(fixed.cut, evaluated.cut) };
}

function joinTexts(a: string, b: string): string {
  if (a.length === 2) return b;
  return b.length === 2 ? a : `${a.slice(0, -1)},${b.slice(1)}`;
}
