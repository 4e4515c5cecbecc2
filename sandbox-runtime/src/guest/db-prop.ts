import type { Bridge } from './bridge.ts';
import { requireStorable } from './check-name.ts';
import { parseJson } from './intrinsics.ts';
import { toJson } from './json-value.ts';
import { limitError } from './limit-error.ts';
import { refuseInForm, type RunContext, type RunTracker } from './run-context.ts';
import { utf8LengthUpTo } from './utf8.ts';

export interface DbProp {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** Represents undefined, which JSON cannot express. */
const DELETED = '';

/**
 * `$.service.db`: returns plain values at once, and `await` works too. A run reads its own writes.
 * Setting undefined deletes the key.
 */
export function makeDbProp(bridge: Bridge, runs: RunTracker, context: RunContext): DbProp {
  return {
    get(key) {
      const name = readKey(key, context);
      const own = context.written.get(name);
      if (own === DELETED) return undefined;
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
      if (context.over) return;
      refuseInForm(context, 'set of $.service.db');
      const json = value === undefined ? DELETED : toJson(`The value for '${name}'`, value);
      const bytes = utf8LengthUpTo(json, context.limits.maxDbValueBytes);
      const { maxDbValueBytes, dbEntryOverheadBytes } = context.limits;
      if (bytes > maxDbValueBytes) throw limitError({ name: 'maxDbValueBytes', value: maxDbValueBytes, used: bytes });
      runs.takeBytes(context, bytes + name.length + dbEntryOverheadBytes);
      context.written.set(name, json);
      bridge.post({ kind: 'db-set', run: context.run, key: name, value: json });
      context.tellLoss?.(`The value for '${name.slice(0, 100)}'`, value);
    },
  };
}

function readKey(key: unknown, { limits }: RunContext): string {
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new TypeError(`A key of the store must be a string, not ${typeof key}`);
  }
  const name = String(key);
  const { maxDbKeyBytes } = limits;
  const used = utf8LengthUpTo(name, maxDbKeyBytes);
  if (used > maxDbKeyBytes) throw limitError({ name: 'maxDbKeyBytes', value: maxDbKeyBytes, used });
  requireStorable(name, 'A key of the store');
  return name;
}
