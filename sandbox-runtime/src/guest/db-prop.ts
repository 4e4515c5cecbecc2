import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';
import { parseJson, stringifyJson } from './intrinsics.ts';
import { limitError } from './limit-error.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { utf8LengthUpTo } from './utf8.ts';

export interface DbProp {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/**
 * `$.service.db`: plain values at once, and `await` works as well. A run sees what it has set itself. Setting undefined
 * stores nothing: the key keeps the value it had.
 */
export function makeDbProp(bridge: Bridge, runs: RunTracker, context: RunContext): DbProp {
  return {
    get(key) {
      const name = readKey(key, context);
      const own = context.written.get(name);
      if (own !== undefined) return parseJson(own);
      context.reads += 1;
      const { maxDbReadsPerRun } = context.limits;
      if (context.reads > maxDbReadsPerRun)
        throw limitError({ name: 'maxDbReadsPerRun', value: maxDbReadsPerRun, used: context.reads });
      const answer = bridge.dbGet(context.run, name);
      if (answer[0] === 'v') return parseJson(answer.slice(1));
      if (answer[0] === 'u') return undefined;
      throw new Error(`The value of '${name}' could not be read: ${answer.slice(1)}`);
    },
    set(key, value) {
      const name = readKey(key, context);
      if (value === undefined || context.over) return;
      const json = valueJson(name, value);
      const bytes = utf8LengthUpTo(json, context.limits.maxDbValueBytes);
      const { maxDbValueBytes, dbEntryOverheadBytes } = context.limits;
      if (bytes > maxDbValueBytes) throw limitError({ name: 'maxDbValueBytes', value: maxDbValueBytes, used: bytes });
      runs.takeBytes(context, bytes + name.length + dbEntryOverheadBytes);
      context.written.set(name, json);
      bridge.post(POST.dbSet, context.run, name, json);
    },
  };
}

function readKey(key: unknown, { limits }: RunContext): string {
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new TypeError(`A key of the store must be a string, not ${typeof key}`);
  }
  const name = String(key);
  if (utf8LengthUpTo(name, limits.maxDbKeyBytes) > limits.maxDbKeyBytes)
    throw new RangeError(`A key of the store is longer than ${limits.maxDbKeyBytes} bytes`);
  return name;
}

function valueJson(key: string, value: unknown): string {
  let json: string | undefined;
  try {
    json = stringifyJson(value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read';
    throw new TypeError(`The value for '${key}' cannot be turned into JSON: ${reason}`, { cause });
  }
  if (json === undefined)
    throw new TypeError(`The value for '${key}' cannot be turned into JSON: it is a ${typeof value}`);
  return json;
}
