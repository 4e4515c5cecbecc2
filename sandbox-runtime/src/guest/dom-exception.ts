// oxlint-disable-next-line import/no-unassigned-import -- core-js installs what its modules are named after
import 'core-js/actual/dom-exception';
import { defineGlobal } from './intrinsics.ts';

const { construct } = Reflect;
const { captureStackTrace } = Error;

interface Options {
  name?: unknown;
  cause?: unknown;
}

/**
 * core-js writes the stack of a DOMException itself: under the name of the class, and with frames
 * of the guest. Here V8 captures it, so it begins with the error's own name, as in Node.
 */
export function completeDomException(): void {
  const Written = DOMException;
  const Captured = function (this: unknown, message?: unknown, options?: unknown): object {
    if (new.target === undefined) throw new TypeError("Class constructor DOMException cannot be invoked without 'new'");
    const { name, cause } = typeof options === 'object' && options !== null ? (options as Options) : { name: options };
    const error = construct(Written, name === undefined ? [message] : [message, name], new.target) as object;
    if (cause !== undefined)
      Object.defineProperty(error, 'cause', { value: cause, writable: true, configurable: true });
    captureStackTrace(error, new.target);
    return error;
  };
  Object.defineProperty(Captured, 'length', { value: 0, configurable: true });
  for (const key of Reflect.ownKeys(Written))
    Object.defineProperty(Captured, key, Object.getOwnPropertyDescriptor(Written, key) as PropertyDescriptor);
  Object.defineProperty(Written.prototype, 'constructor', { value: Captured, writable: true, configurable: true });
  defineGlobal('DOMException', Captured);
}
