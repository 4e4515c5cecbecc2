import { theBridge } from './bridge-slot.ts';
import { nativeError } from './node/errors.ts';
import { throwLimitOf } from './throw-refused.ts';

/**
 * Asks the process for text. Its answer begins with `v`; any other is a reason, which is thrown as
 * TypeError.
 */
export function askText(kind: number, a: string, b?: Uint8Array): string {
  const answer = theBridge().ask(kind, a, b);
  if (typeof answer === 'string' && answer.startsWith('v')) return answer.slice(1);
  if (typeof answer === 'string') throwLimitOf(answer, (text) => new TypeError(text));
  const [, code, message] = /^(\w+)\|(.*)$/s.exec(typeof answer === 'string' ? answer : '') ?? [];
  if (code !== undefined && message !== undefined) throw nativeError(code, message, TypeError);
  throw new TypeError(typeof answer === 'string' ? answer : 'The operation failed');
}
