import { GuestHeaders, headerPairs } from '../headers.ts';
import { groupItems } from './group-items.ts';
import { types } from './util-types.ts';

export interface InspectOptions {
  depth?: number | null;
  breakLength?: number;
  compact?: boolean | number;
  sorted?: boolean | ((a: string, b: string) => number);
  showHidden?: boolean;
  getters?: boolean;
  maxArrayLength?: number | null;
  maxStringLength?: number | null;
  /** Largest length of the whole result. */
  maxChars?: number;
}

interface State extends Required<Omit<InspectOptions, 'sorted' | 'maxChars'>> {
  sorted: InspectOptions['sorted'];
  seen: object[];
  circular: Map<object, number>;
  indentation: number;
  /** Depth of the last shown value. A value with deeper members is not put on one line. */
  shownDepth: number;
  /** Characters left: a huge result must not fill the isolate. */
  left: number;
}

export const CUSTOM = Symbol.for('nodejs.util.inspect.custom');
const MAX_CHARS = 4 * 1024 * 1024;
const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;

/**
 * As `console` shows values: no more than a line of a log can have, and a bit, so that the cut is
 * told.
 */
export function inspectForLog(value: unknown): string {
  return inspect(value, { maxChars: 64 * 1024 + 1 });
}

/** `util.inspect`: the layout is that of Node 24, without colours. */
export function inspect(value: unknown, options: InspectOptions | boolean = {}, depth?: number | null): string {
  const given =
    typeof options === 'object' ? options : { showHidden: options, ...(depth === undefined ? {} : { depth }) };
  const state: State = {
    depth: 2,
    breakLength: 80,
    compact: 3,
    showHidden: false,
    getters: false,
    maxArrayLength: 100,
    maxStringLength: 10_000,
    ...given,
    sorted: given.sorted,
    seen: [],
    circular: new Map(),
    indentation: 0,
    shownDepth: 0,
    left: given.maxChars ?? MAX_CHARS,
  };
  return show(value, state, 0);
}

function show(value: unknown, state: State, depth: number): string {
  if (state.left <= 0) return '…';
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    const text = showPrimitive(value, state);
    state.left -= text.length;
    return text;
  }
  const custom = (value as Record<symbol, unknown>)[CUSTOM];
  if (typeof custom === 'function' && custom !== inspect) {
    const { seen: _, circular: __, left: ___, ...options } = state;
    const levels = state.depth === null ? null : state.depth - depth;
    const shown: unknown = custom.call(value, levels, { ...options, depth: levels }, inspect);
    if (shown !== value) return typeof shown === 'string' ? shown : show(shown, state, depth);
  }
  if (state.seen.includes(value)) {
    const index = state.circular.get(value) ?? state.circular.size + 1;
    state.circular.set(value, index);
    return `[Circular *${index}]`;
  }
  return showObject(value, state, depth);
}

function showPrimitive(value: unknown, state: State): string {
  switch (typeof value) {
    case 'string': {
      const max = state.maxStringLength ?? Number.POSITIVE_INFINITY;
      const rest = value.length - max;
      return rest > 0 ? `${quote(value.slice(0, max))}... ${rest} more character${rest > 1 ? 's' : ''}` : quote(value);
    }
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return value.toString();
    default:
      return Object.is(value, -0) ? '-0' : String(value);
  }
}

const ESCAPES: Record<string, string> = {
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
  '\\': '\\\\',
};

function quote(text: string): string {
  const mark = !text.includes("'")
    ? "'"
    : !text.includes('"')
      ? '"'
      : !text.includes('`') && !text.includes('${')
        ? '`'
        : "'";
  const escaped = text.replaceAll(/[\x00-\x1f\x7f-\x9f\\]/g, (char) => {
    return ESCAPES[char] ?? `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return `${mark}${mark === "'" ? escaped.replaceAll("'", "\\'") : escaped}${mark}`;
}

interface Shape {
  prefix: string;
  braces: [string, string];
  items: string[];
  /** The items of a list, which may stand in columns. */
  list?: ArrayLike<unknown>;
}

function showObject(value: object, state: State, depth: number): string {
  const name = constructorName(value);
  if (state.depth !== null && depth > state.depth) return `[${Array.isArray(value) ? 'Array' : tagged(value, name)}]`;
  state.seen.push(value);
  state.shownDepth = depth;
  let shape: Shape | string;
  try {
    shape = describe(value, name, state, depth);
  } finally {
    state.seen.pop();
  }
  const index = state.circular.get(value);
  const reference = index === undefined ? '' : `<ref *${index}> `;
  if (typeof shape === 'string') return reference + shape;
  return join({ ...shape, prefix: reference + shape.prefix }, state, depth);
}

function describe(value: object, name: string, state: State, depth: number): Shape | string {
  const members = (skipIndexes = false): string[] => showMembers(value, state, depth, skipIndexes);
  const nested = (item: unknown): string => indented(state, 2, () => show(item, state, depth + 1));
  if (Array.isArray(value)) {
    const prefix = name === 'Array' ? '' : `${name}(${value.length}) `;
    return { prefix, braces: ['[', ']'], items: [...showItems(value, nested, state), ...members(true)], list: value };
  }
  if (types.isTypedArray(value)) {
    const items = value as unknown as ArrayLike<unknown>;
    return {
      prefix: `${name}(${items.length}) `,
      braces: ['[', ']'],
      items: showItems(items, nested, state),
      list: items,
    };
  }
  if (value instanceof Set) {
    return {
      prefix: `${name}(${value.size}) `,
      braces: ['{', '}'],
      items: [...showItems([...value], nested, state), ...members()],
    };
  }
  if (value instanceof Map) {
    const items = [...value].map(([key, item]) => `${nested(key)} => ${nested(item)}`);
    return { prefix: `${name}(${value.size}) `, braces: ['{', '}'], items: [...items, ...members()] };
  }
  if (value instanceof ArrayBuffer || value instanceof DataView)
    return { prefix: `${name} `, braces: ['{', '}'], items: bufferMembers(value, state, nested) };
  if (value instanceof URLSearchParams) {
    const items = [...value.entries()].map(([key, item]) => `${quote(key)} => ${nested(item)}`);
    return { prefix: `${name} `, braces: ['{', '}'], items };
  }
  const web = showWeb(value, name, state);
  if (web !== undefined) return web;
  const base = baseOf(value, name, state);
  const items = members();
  if (base !== undefined) return items.length === 0 ? base : { prefix: `${base} `, braces: ['{', '}'], items };
  const plain = name === 'Object' && !(Symbol.toStringTag in value);
  const prefix = plain ? '' : `${tagged(value, name)} `;
  return { prefix, braces: ['{', '}'], items };
}

/** Node lays them out as if they stood alone, and indents the result. */
function showWeb(value: object, name: string, state: State): string | undefined {
  const { indentation: level, shownDepth } = state;
  state.indentation = 0;
  state.shownDepth = 0;
  try {
    const items = webMembers(value, state, 0);
    if (items === undefined) return undefined;
    const text = `${name} ${join({ prefix: '', braces: ['{', '}'], items }, state, 0)}`;
    return text.replaceAll('\n', `\n${' '.repeat(level)}`);
  } finally {
    state.indentation = level;
    state.shownDepth = shownDepth;
  }
}

/**
 * Members of objects of the web platform, which have none of their own. Undefined for anything
 * else.
 */
function webMembers(value: object, state: State, depth: number): string[] | undefined {
  const nested = (item: unknown): string => indented(state, 2, () => show(item, state, depth + 1));
  const pairs = (entries: Iterable<[string, unknown]>): string[] =>
    [...entries].map(([key, item]) => `${IDENTIFIER.test(key) ? key : quote(key)}: ${nested(item)}`);
  try {
    if (value instanceof GuestHeaders) return pairs(joinedHeaders(value));
    if (value instanceof FormData) return pairs(value.entries() as Iterable<[string, unknown]>);
    const stream = streamMembers(value);
    if (stream !== undefined) return pairs(stream);
    for (const [Class, names] of webClasses())
      if (value instanceof Class)
        return pairs(names.map((key) => [key, (value as unknown as Record<string, unknown>)[key]]));
  } catch {
    // An object that only has such a prototype is shown like any other object.
  }
  return undefined;
}

/** Values of one name stand together. */
function joinedHeaders(headers: GuestHeaders): [string, string][] {
  const joined = new Map<string, string>();
  for (const [name, value] of headerPairs(headers)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return [...joined];
}

function bufferMembers(value: ArrayBuffer | DataView, state: State, nested: (item: unknown) => string): string[] {
  if (value instanceof DataView)
    return [
      `[byteLength]: ${value.byteLength}`,
      `[byteOffset]: ${value.byteOffset}`,
      `[buffer]: ${nested(value.buffer)}`,
    ];
  const max = Math.min(state.maxArrayLength ?? Number.POSITIVE_INFINITY, value.byteLength);
  const hex = [...new Uint8Array(value, 0, max)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const rest = value.byteLength - max;
  const more = rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : '';
  return [`[Uint8Contents]: <${hex}${more}>`, `[byteLength]: ${value.byteLength}`];
}

/** The options of streams, of which a part is shown. */
const STATE = '_state';
const CONTROLLER = '_readableStreamController';
const BACKPRESSURE = '_backpressure';

function streamMembers(value: object): [string, unknown][] | undefined {
  const inside = value as Record<string, unknown>;
  if (value instanceof ReadableStream) {
    const supportsBYOB = inside[CONTROLLER] instanceof ReadableByteStreamController;
    return Object.entries({ locked: value.locked, state: inside[STATE], supportsBYOB });
  }
  if (value instanceof WritableStream) return Object.entries({ locked: value.locked, state: inside[STATE] });
  if (value instanceof TransformStream) {
    const { readable, writable } = value;
    return Object.entries({ readable, writable, backpressure: inside[BACKPRESSURE] });
  }
  return undefined;
}

type AnyClass = new (...args: never[]) => object;

function webClasses(): [AnyClass, string[]][] {
  return [
    [URL, URL_MEMBERS],
    [File, ['size', 'type', 'name', 'lastModified']],
    [Blob, ['size', 'type']],
    [Response, RESPONSE_MEMBERS],
    [Request, REQUEST_MEMBERS],
    [AbortSignal, ['aborted']],
  ];
}

const URL_MEMBERS = 'href origin protocol username password host hostname port pathname search searchParams hash'.split(
  ' ',
);
const RESPONSE_MEMBERS = 'status statusText headers body bodyUsed ok redirected type url'.split(' ');
const REQUEST_MEMBERS =
  'method url headers destination referrer referrerPolicy mode credentials cache redirect integrity keepalive isReloadNavigation isHistoryNavigation signal'.split(
    ' ',
  );

/** Text for values that consist of more than their members. */
function baseOf(value: object, name: string, state: State): string | undefined {
  if (typeof value === 'function') return functionBase(value as (...args: never[]) => unknown, name);
  if (value instanceof Error) return errorBase(value, state);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return value.toString();
  if (value instanceof Promise) return 'Promise { <pending> }';
  if (value instanceof WeakMap || value instanceof WeakSet) return `${name} { <items unknown> }`;
  if (types.isBoxedPrimitive(value)) return `[${name}: ${show((value as { valueOf(): unknown }).valueOf(), state, 0)}]`;
  return undefined;
}

function functionBase(value: (...args: never[]) => unknown, name: string): string {
  if (/^class\b/.test(Function.prototype.toString.call(value))) {
    const parent = Object.getPrototypeOf(value) as { name?: string };
    const base = parent.name === undefined || parent.name === '' ? '' : ` extends ${parent.name}`;
    return `[class ${value.name === '' ? '(anonymous)' : value.name}${base}]`;
  }
  return `[${name}${value.name === '' ? ' (anonymous)' : `: ${value.name}`}]`;
}

function errorBase(error: Error, state: State): string {
  const { stack } = error;
  const text = typeof stack === 'string' && stack !== '' ? stack : `[${Error.prototype.toString.call(error)}]`;
  return text.replaceAll('\n', `\n${' '.repeat(state.indentation)}`);
}

function showItems(items: ArrayLike<unknown>, nested: (item: unknown) => string, state: State): string[] {
  const shown: string[] = [];
  const max = Math.min(state.maxArrayLength ?? Number.POSITIVE_INFINITY, items.length);
  let holes = 0;
  const flush = (): void => {
    if (holes > 0) shown.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`);
    holes = 0;
  };
  for (let i = 0; i < max; i++) {
    if (i in items) {
      flush();
      shown.push(nested(items[i]));
    } else holes += 1;
  }
  flush();
  const rest = items.length - max;
  if (rest > 0) shown.push(`... ${rest} more item${rest > 1 ? 's' : ''}`);
  return shown;
}

/**
 * Names beside the indexes of larger arrays are not looked for: each index would be made a string,
 * which takes milliseconds.
 */
const MAX_NAMED_ITEMS = 10_000;

function showMembers(value: object, state: State, depth: number, skipIndexes: boolean): string[] {
  const names = skipIndexes && (value as { length: number }).length > MAX_NAMED_ITEMS ? [] : namesOf(value, state);
  const kept = names.filter(
    (key) => !(skipIndexes && /^\d+$/.test(key)) && !(value instanceof Error && ['stack', 'message'].includes(key)),
  );
  if (value instanceof Error)
    for (const key of ['cause', 'errors']) if (Object.hasOwn(value, key) && !kept.includes(key)) kept.push(key);
  if (state.sorted !== undefined && state.sorted !== false) kept.sort(state.sorted === true ? undefined : state.sorted);
  const symbols = Object.getOwnPropertySymbols(value).filter((key) =>
    Object.prototype.propertyIsEnumerable.call(value, key),
  );
  return [...kept, ...symbols].map((key) => showMember(value, key, state, depth));
}

function namesOf(value: object, state: State): string[] {
  return state.showHidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
}

function showMember(value: object, key: string | symbol, state: State, depth: number): string {
  const descriptor = Object.getOwnPropertyDescriptor(value, key);
  const hidden = descriptor?.enumerable === false;
  const name = typeof key === 'symbol' ? key.toString() : IDENTIFIER.test(key) ? key : quote(key);
  const label = hidden ? `[${name}]` : name;
  if (descriptor?.get !== undefined && !state.getters)
    return `${label}: [${descriptor.set === undefined ? 'Getter' : 'Getter/Setter'}]`;
  if (descriptor !== undefined && descriptor.get === undefined && descriptor.set !== undefined)
    return `${label}: [Setter]`;
  const member: unknown = Reflect.get(value, key);
  return `${label}: ${indented(state, 2, () => show(member, state, depth + 1))}`;
}

function indented(state: State, by: number, work: () => string): string {
  state.indentation += by;
  const text = work();
  state.indentation -= by;
  return text;
}

const MAX_UNGROUPED = 6;

/** One line if it fits and its members are shallow; else one line per member. */
function join({ prefix, braces, items: given, list }: Shape, state: State, depth: number): string {
  const open = prefix + braces[0];
  if (given.length === 0) return `${open}${braces[1]}`;
  const compact = typeof state.compact === 'number' ? state.compact : state.compact ? 3 : 0;
  const isLong = compact > 0 && list !== undefined && given.length > MAX_UNGROUPED;
  const hasRest = (state.maxArrayLength ?? Number.POSITIVE_INFINITY) < given.length;
  const { breakLength, indentation: level } = state;
  const items = isLong ? groupItems(given, list, { breakLength, indentation: level, compact, hasRest }) : given;
  if (compact > 0 && state.shownDepth - depth < compact && items.length === given.length) {
    const start = items.length + state.indentation + open.length + 10;
    const length = items.reduce((sum, item) => sum + item.length, items.length + start);
    if (length <= state.breakLength && !items.some((item) => item.includes('\n')) && !open.includes('\n'))
      return `${open} ${items.join(', ')} ${braces[1]}`;
  }
  const indentation = `\n${' '.repeat(state.indentation)}`;
  return `${open}${indentation}  ${items.join(`,${indentation}  `)}${indentation}${braces[1]}`;
}

function constructorName(value: object): string {
  for (let at: object | null = value; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const descriptor = Object.getOwnPropertyDescriptor(at, 'constructor');
    const maker: unknown = descriptor?.value;
    if (typeof maker === 'function' && maker.name !== '') return maker.name;
  }
  return '[Object: null prototype]';
}

function tagged(value: object, name: string): string {
  const tag: unknown = Reflect.get(value, Symbol.toStringTag);
  return typeof tag === 'string' && tag !== '' && tag !== name ? `${name} [${tag}]` : name;
}
