import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';
import { parseJson, stringifyJson } from './intrinsics.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { utf8Length } from './utf8.ts';

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
      const name = readKey(key, runs);
      const own = context.written.get(name);
      if (own !== undefined) return parseJson(own);
      context.reads += 1;
      if (context.reads > runs.limits.maxDbReadsPerRun) {
        throw new RangeError(`A run may read the store at most ${runs.limits.maxDbReadsPerRun} times`);
      }
      const answer = bridge.dbGet(context.run, name);
      if (answer[0] === 'v') return parseJson(answer.slice(1));
      if (answer[0] === 'u') return undefined;
      throw new Error(`The value of '${name}' could not be read: ${answer.slice(1)}`);
    },
    set(key, value) {
      const name = readKey(key, runs);
      if (value === undefined || context.over) return;
      const json = valueJson(name, value);
      const bytes = utf8Length(json);
      const { maxDbValueBytes } = runs.limits;
      if (bytes > maxDbValueBytes) {
        throw new RangeError(`The value for '${name}' is ${bytes} bytes of JSON; the limit is ${maxDbValueBytes}`);
      }
      runs.takeBytes(context, bytes + name.length);
      context.written.set(name, json);
      bridge.post(POST.dbSet, context.run, name, json);
    },
  };
}

function readKey(key: unknown, runs: RunTracker): string {
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new TypeError(`A key of the store must be a string, not ${typeof key}`);
  }
  const name = String(key);
  if (utf8Length(name) > runs.limits.maxDbKeyBytes) {
    throw new RangeError(`A key of the store is longer than ${runs.limits.maxDbKeyBytes} bytes`);
  }
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
