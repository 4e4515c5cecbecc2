import type { Bridge } from './bridge.ts';
import { requireOwnChannel, requireStorable } from './check-name.ts';
import { now, stringifyJson, stringifyOwn, toText } from './intrinsics.ts';
import { limitError } from './limit-error.ts';
import { refuseInForm, type RunContext, type RunTracker } from './run-context.ts';
import { type KnownNames, warnUnknownMembers } from './warn-unknown-members.ts';
import { utf8LengthUpTo } from './utf8.ts';

/** The first and the last moment of a Date, from 1970 on. */
const MAX_TS_MS = 8.64e15;

interface EmitMeta {
  id?: string | number;
  name?: string;
  summary?: string;
  ts?: number;
  emittedAtMs: number;
}

/**
 * `this.$emit(event, { id, name, summary, ts })`. Throws TypeError or LimitError at the author's
 * line.
 */
export function emitEvent(
  bridge: Bridge,
  runs: RunTracker,
  context: RunContext,
  event: unknown,
  options: unknown,
  warn: (message: string) => void,
): void {
  if (context.over) return;
  refuseInForm(context, '$emit');
  const { maxEventBytes, maxEmitsPerRun } = context.limits;
  const data = eventJson(event);
  const bytes = utf8LengthUpTo(data, maxEventBytes);
  if (bytes > maxEventBytes) throw limitError({ name: 'maxEventBytes', value: maxEventBytes, used: bytes });
  const meta = readMeta(options ?? {}, context, warn);
  if (typeof options === 'object' && options !== null) warnUnknownMembers(context, options, OPTIONS, warn);
  context.emits += 1;
  if (context.emits > maxEmitsPerRun)
    runs.exceed(context, { name: 'maxEmitsPerRun', value: maxEmitsPerRun, used: context.emits });
  const head = stringifyOwn(meta);
  runs.takeBytes(context, bytes + head.length);
  bridge.post({ kind: 'emit', run: context.run, event: data, meta: head });
  context.tellLoss?.('$emit: the event', event);
}

const OPTIONS: KnownNames = {
  names: ['id', 'name', 'summary', 'ts'],
  knowsNo: '$emit knows no option',
  takes: 'id, name, summary and ts',
};

function eventJson(event: unknown): string {
  if (event === undefined) return 'null';
  let json: string | undefined;
  try {
    json = stringifyJson(event);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read';
    throw new TypeError(`The event given to $emit cannot be turned into JSON: ${reason}`, { cause });
  }
  if (json === undefined)
    throw new TypeError(`The event given to $emit cannot be turned into JSON: it is a ${typeof event}`);
  return json;
}

function readMeta(options: unknown, context: RunContext, warn: (message: string) => void): EmitMeta {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('The second argument of $emit must be an object such as { id, name, summary, ts }');
  }
  const { id, name, summary, ts } = options as Record<string, unknown>;
  const { maxChannelChars, maxSummaryChars, maxEventIdChars } = context.limits;
  const meta: EmitMeta = { emittedAtMs: now() };
  const checkedId = readId(id, context.dedupe, maxEventIdChars);
  if (checkedId !== undefined) meta.id = checkedId;
  if (name !== undefined && name !== null) {
    if (typeof name !== 'string') throw new TypeError(`$emit: name must be a string, not ${typeof name}`);
    if (name.length > maxChannelChars)
      throw limitError({ name: 'maxChannelChars', value: maxChannelChars, used: name.length });
    requireOwnChannel(name, '$emit: name');
    meta.name = name;
  }
  if (summary !== undefined && summary !== null) {
    if (typeof summary === 'object' || typeof summary === 'function' || typeof summary === 'symbol') {
      throw new TypeError(`$emit: summary must be a string, not ${typeof summary}`);
    }
    const text = toText(summary);
    // A summary is for people: a long one is cut, not refused.
    meta.summary = text.length > maxSummaryChars ? `${text.slice(0, maxSummaryChars - 1)}…` : text;
  }
  const checkedTs = readTs(ts, warn);
  if (checkedTs !== undefined) meta.ts = checkedTs;
  return meta;
}

/**
 * Milliseconds, a Date, or digits. A date that could not be parsed (`Date.parse(item.created)` of
 * an item without one) is common: the event then has no ts, and is not lost.
 */
function readTs(ts: unknown, warn: (message: string) => void): number | undefined {
  if (ts === undefined || ts === null) return undefined;
  const ms = ts instanceof Date ? ts.getTime() : typeof ts === 'string' && /^\d+$/.test(ts) ? Number(ts) : ts;
  if (typeof ms !== 'number') throw new TypeError(`$emit: ts must be a number of milliseconds, not a ${typeof ts}`);
  if (Math.abs(ms) <= MAX_TS_MS) return Math.trunc(ms);
  if (!Number.isNaN(ms)) warn(`$emit: ts ${ms} is not a time in milliseconds; the event has no ts`);
  return undefined;
}

function readId(id: unknown, dedupe: string, maxChars: number): string | number | undefined {
  if (id === undefined || id === null) {
    if (dedupe === '') return undefined;
    throw new TypeError(`$emit needs an id, because the component sets dedupe: '${dedupe}'`);
  }
  if (typeof id !== 'string' && typeof id !== 'number')
    throw new TypeError(`$emit: id must be a string or a number, not ${typeof id}`);
  if (typeof id === 'number' && !Number.isFinite(id))
    throw new TypeError(`$emit: id must be a finite number, not ${id}`);
  if (typeof id === 'string' && id.length > maxChars)
    throw limitError({ name: 'maxEventIdChars', value: maxChars, used: id.length });
  if (typeof id === 'string') requireStorable(id, '$emit: id');
  if (dedupe === 'greatest' && !isNumeric(id)) {
    throw new TypeError(`$emit: id must be numeric, because the component sets dedupe: 'greatest'; got '${id}'`);
  }
  return id;
}

function isNumeric(id: string | number): boolean {
  return typeof id === 'number' || (id.trim() !== '' && Number.isFinite(Number(id)));
}
