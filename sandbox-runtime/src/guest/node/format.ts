import { inspect, type InspectOptions } from './inspect.ts';

/** `util.format`. */
export function formatWith(options: InspectOptions, args: readonly unknown[]): string {
  const [first, ...rest] = args;
  if (typeof first !== 'string') return args.map((arg) => plain(arg, options)).join(' ');
  let used = 0;
  const text =
    rest.length === 0
      ? first
      : first.replaceAll(/%([sdifjoOc%])/g, (placeholder, kind: string) => {
          if (kind === '%') return '%';
          if (used >= rest.length) return placeholder;
          const value = rest[used];
          used += 1;
          return formatOne(kind, value, options);
        });
  const others = rest.slice(used).map((arg) => plain(arg, options));
  return [text, ...others].join(' ');
}

function plain(value: unknown, options: InspectOptions): string {
  return typeof value === 'string' ? value : inspect(value, options);
}

function formatOne(kind: string, value: unknown, options: InspectOptions): string {
  switch (kind) {
    case 's':
      return formatString(value, options);
    case 'd':
      return typeof value === 'bigint' ? `${value}n` : typeof value === 'symbol' ? 'NaN' : inspect(Number(value));
    case 'i':
      return typeof value === 'bigint'
        ? `${value}n`
        : typeof value === 'symbol'
          ? 'NaN'
          : inspect(Number.parseInt(value as string, 10));
    case 'f':
      return typeof value === 'symbol' ? 'NaN' : inspect(Number.parseFloat(value as string));
    case 'j':
      return formatJson(value);
    case 'o':
      return inspect(value, { ...options, showHidden: true, depth: 4 });
    case 'O':
      return inspect(value, options);
    default:
      return '';
  }
}

function formatString(value: unknown, options: InspectOptions): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : `${value}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  const { toString } = value as { toString?: unknown };
  const ownText =
    typeof toString === 'function' && toString !== Object.prototype.toString && toString !== Array.prototype.toString;
  return ownText ? String(value as { toString(): string }) : inspect(value, { ...options, depth: 0, compact: 3 });
}

function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch (error) {
    if (error instanceof TypeError && error.message.includes('circular')) return '[Circular]';
    throw error;
  }
}
