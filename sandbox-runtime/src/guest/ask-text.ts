import type { GuestAsk } from '../bridge/messages.ts';
import { theBridge } from './bridge-slot.ts';
import { nativeError } from './node/errors.ts';
import { throwLimitOf } from './throw-refused.ts';

/**
 * Asks the process for text. Its answer begins with `v`; any other is a reason, which is thrown as
 * TypeError.
 */
export function askText(ask: GuestAsk): string {
  const answer = theBridge().ask(ask);
  if (typeof answer === 'string' && answer.startsWith('v')) return answer.slice(1);
  if (typeof answer === 'string') throwLimitOf(answer, (text) => new TypeError(text));
  const [, code, message] = /^(\w+)\|(.*)$/s.exec(typeof answer === 'string' ? answer : '') ?? [];
  if (code !== undefined && message !== undefined) throw nativeError(code, message, TypeError);
  throw new TypeError(typeof answer === 'string' ? answer : 'The operation failed');
}
