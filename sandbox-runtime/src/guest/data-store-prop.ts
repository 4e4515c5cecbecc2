import type { ExceededLimit } from '@headwater/shared';
import type { HostCalls } from './host-calls.ts';
import { parseJson, stringifyOwn } from './intrinsics.ts';
import { toJson } from './json-value.ts';
import { limitError } from './limit-error.ts';
import type { RunContext } from './run-context.ts';
import { utf8LengthUpTo } from './utf8.ts';

export interface DataStoreProp {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown, options?: { ttl?: number }): Promise<void>;
  has(key: string): Promise<boolean>;
  delete(key: string): Promise<boolean>;
  keys(): Promise<string[]>;
  entries(): Promise<[string, unknown][]>;
  clear(): Promise<void>;
  [Symbol.asyncIterator](): AsyncIterator<[string, unknown]>;
}

type Op = 'get' | 'set' | 'delete' | 'has' | 'keys' | 'entries' | 'clear';

interface CallParts {
  key?: string;
  valueJson?: string;
  ttlSeconds?: number;
  cursor?: string;
}

type Ask = (op: Op, parts?: CallParts) => Promise<unknown>;

interface Page<Item> {
  items: Item[];
  cursor?: string;
}

/**
 * A data store as a component has it. Every call is made at once and awaited. Its changes are
 * visible to all other runs, and stay even if the run fails. Lists come in pages.
 */
export function makeDataStoreProp(calls: HostCalls, context: RunContext, storeId: string): DataStoreProp {
  const ask: Ask = (op, parts = {}) => askStore(calls, context, storeId, op, parts);
  const { limits } = context;
  const pages = <Item>(op: 'keys' | 'entries'): AsyncGenerator<Item[]> => readPages<Item>(ask, op);
  return {
    get: async (key) => await ask('get', { key: readKey(key, limits.maxDataStoreKeyBytes) }),
    async set(key, value, options) {
      const name = readKey(key, limits.maxDataStoreKeyBytes);
      const ttlSeconds = readTtl(options, limits.maxDataStoreTtlSeconds);
      const valueJson = readValue(name, value, limits.maxDataStoreValueBytes);
      context.tellLoss?.(`The value for '${name.slice(0, 100)}'`, value);
      await ask('set', { key: name, valueJson, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) });
    },
    has: async (key) => (await ask('has', { key: readKey(key, limits.maxDataStoreKeyBytes) })) === true,
    delete: async (key) => (await ask('delete', { key: readKey(key, limits.maxDataStoreKeyBytes) })) === true,
    keys: () => collect(pages<string>('keys')),
    entries: () => collect(pages<[string, unknown]>('entries')),
    async clear() {
      await ask('clear');
    },
    async *[Symbol.asyncIterator]() {
      for await (const items of pages<[string, unknown]>('entries')) yield* items;
    },
  };
}

async function askStore(
  calls: HostCalls,
  context: RunContext,
  storeId: string,
  op: Op,
  { valueJson, ...parts }: CallParts,
): Promise<unknown> {
  context.storeCalls += 1;
  const { maxDataStoreCallsPerRun } = context.limits;
  if (context.storeCalls > maxDataStoreCallsPerRun)
    throw limitError({ name: 'maxDataStoreCallsPerRun', value: maxDataStoreCallsPerRun, used: context.storeCalls });
  const isWrite = op === 'set' || op === 'delete' || op === 'clear';
  const head = stringifyOwn({ storeId, op, ...parts });
  const answer = parseJson(
    await context.storeTurns.take(isWrite, () => calls.callStore(context, head, valueJson)),
  ) as Answer;
  if (answer.ok) return answer.json === undefined ? undefined : parseJson(answer.json);
  throw answer.limit === undefined
    ? new Error(`The data store did not ${op}: ${answer.message}`)
    : limitError(answer.limit);
}

type Answer = { ok: true; json?: string } | { ok: false; message: string; limit?: ExceededLimit };

async function* readPages<Item>(ask: Ask, op: 'keys' | 'entries'): AsyncGenerator<Item[]> {
  let cursor: string | undefined;
  do {
    const page = (await ask(op, cursor === undefined ? {} : { cursor })) as Page<Item>;
    yield page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function collect<Item>(pages: AsyncGenerator<Item[]>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const items of pages) for (const item of items) all.push(item);
  return all;
}

function readKey(key: unknown, maxBytes: number): string {
  if (typeof key !== 'string' && typeof key !== 'number')
    throw new TypeError(`A key of a data store must be a string, not ${typeof key}`);
  const name = String(key);
  if (name === '') throw new TypeError('A key of a data store cannot be empty');
  const used = utf8LengthUpTo(name, maxBytes);
  if (used > maxBytes) throw limitError({ name: 'maxDataStoreKeyBytes', value: maxBytes, used });
  return name;
}

function readValue(key: string, value: unknown, maxBytes: number): string {
  const json = toJson(`The value for '${key}'`, value);
  const bytes = utf8LengthUpTo(json, maxBytes);
  if (bytes > maxBytes) throw limitError({ name: 'maxDataStoreValueBytes', value: maxBytes, used: bytes });
  return json;
}

function readTtl(options: unknown, maxSeconds: number): number | undefined {
  const ttl = (options as { ttl?: unknown } | null | undefined)?.ttl;
  if (ttl === undefined || ttl === null) return undefined;
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 1 || ttl > maxSeconds)
    throw new TypeError(`ttl must be a whole number of seconds from 1 to ${maxSeconds}`);
  return ttl;
}
