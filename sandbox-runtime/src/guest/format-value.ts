const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
/** One more than a log line may have: the log cuts it again and reports that. */
const MAX_CHARS = 64 * 1024 + 1;
const LINE_CHARS = 100;

/**
 * A readable form of any value, at most 64 KB: nested four deep, 100 items a level. May run getters
 * of proxies.
 */
export function formatValue(value: unknown): string {
  const state = { left: MAX_CHARS, seen: [] as object[] };
  return format(value, 0, state);
}

interface FormatState {
  left: number;
  seen: object[];
}

function format(value: unknown, depth: number, state: FormatState): string {
  // Before its members take of it.
  const { left } = state;
  if (left <= 0) return '…';
  const text =
    typeof value === 'object' && value !== null ? formatObject(value, depth, state) : formatPrimitive(value, depth);
  const kept = text.length > left ? `${text.slice(0, left)}…` : text;
  if (typeof value !== 'object') state.left -= kept.length;
  return kept;
}

function formatPrimitive(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return depth === 0 ? `'${value}'` : quote(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return `[${value.toString().startsWith('class') ? 'class' : 'Function'}${value.name === '' ? ' (anonymous)' : `: ${value.name}`}]`;
    case 'symbol':
      return value.toString();
    default:
      return Object.is(value, -0) ? '-0' : String(value);
  }
}

function quote(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return escaped.includes("'") && !escaped.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}

function formatObject(value: object, depth: number, state: FormatState): string {
  if (state.seen.includes(value)) return '[Circular]';
  if (value instanceof Error) return formatError(value, depth, state);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return 'Promise { … }';
  if (value instanceof WeakMap || value instanceof WeakSet) return `${className(value)} { … }`;
  if (depth > MAX_DEPTH) return Array.isArray(value) ? '[Array]' : `[${className(value)}]`;
  state.seen.push(value);
  try {
    return formatMembers(value, depth, state);
  } finally {
    state.seen.pop();
  }
}

function formatMembers(value: object, depth: number, state: FormatState): string {
  const nested = (item: unknown): string => format(item, depth + 1, state);
  if (Array.isArray(value)) return wrap('', '[', limited(value, value.length, nested), ']', depth);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const items = value as unknown as ArrayLike<unknown> & Iterable<unknown>;
    return wrap(`${className(value)}(${items.length}) `, '[', limited(items, items.length, nested), ']', depth);
  }
  if (value instanceof Map) {
    const entries = limited(
      value,
      value.size,
      (pair) => `${nested((pair as [unknown, unknown])[0])} => ${nested((pair as [unknown, unknown])[1])}`,
    );
    return wrap(`Map(${value.size}) `, '{', entries, '}', depth);
  }
  if (value instanceof Set) return wrap(`Set(${value.size}) `, '{', limited(value, value.size, nested), '}', depth);
  const name = className(value);
  return wrap(name === 'Object' ? '' : `${name} `, '{', properties(value, nested), '}', depth);
}

function properties(value: object, nested: (item: unknown) => string): string[] {
  const keys = Object.keys(value);
  return limited(keys, keys.length, (key) => {
    const name = key as string;
    const descriptor = Object.getOwnPropertyDescriptor(value, name);
    const shown = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
    if (descriptor?.get !== undefined) return `${shown}: [Getter]`;
    return `${shown}: ${nested(descriptor?.value)}`;
  });
}

function limited(items: Iterable<unknown>, count: number, show: (item: unknown) => string): string[] {
  const shown: string[] = [];
  for (const item of items) {
    if (shown.length === MAX_ITEMS) {
      shown.push(`… ${count - MAX_ITEMS} more`);
      break;
    }
    shown.push(show(item));
  }
  return shown;
}

function formatError(error: Error, depth: number, state: FormatState): string {
  const stack = typeof error.stack === 'string' && error.stack !== '' ? error.stack : `${error.name}: ${error.message}`;
  const text = depth === 0 ? stack : `[${stack.split('\n')[0] ?? ''}]`;
  if (error.cause === undefined || depth >= MAX_DEPTH) return text;
  state.seen.push(error);
  const cause = format(error.cause, depth + 1, state);
  state.seen.pop();
  return `${text} { [cause]: ${cause} }`;
}

function wrap(prefix: string, open: string, items: string[], close: string, depth: number): string {
  if (items.length === 0) return `${prefix}${open}${close}`;
  const inner = items.join(', ');
  if (inner.length <= LINE_CHARS && !inner.includes('\n')) return `${prefix}${open} ${inner} ${close}`;
  const indent = '  '.repeat(depth + 1);
  return `${prefix}${open}\n${items.map((item) => indent + item).join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

function className(value: object): string {
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  if (prototype === null) return '[Object: null prototype]';
  const name = prototype.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'Object';
}
