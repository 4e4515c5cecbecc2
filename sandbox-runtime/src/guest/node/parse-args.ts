import { codedError } from './errors.ts';

interface Option {
  type: 'string' | 'boolean';
  short?: string;
  multiple?: boolean;
  default?: unknown;
}

interface ParseArgsConfig {
  args?: string[];
  options?: Record<string, Option>;
  strict?: boolean;
  allowPositionals?: boolean;
}

/**
 * `util.parseArgs`, without tokens and negation: there is no command line here, but packages parse
 * strings with it.
 */
export function parseArgs(config: ParseArgsConfig = {}): { values: Record<string, unknown>; positionals: string[] } {
  const { args = [], options = {}, strict = true, allowPositionals = !strict } = config;
  const values: Record<string, unknown> = {};
  const positionals: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '--') {
      positionals.push(...args.slice(i + 1));
      break;
    }
    if (!arg.startsWith('-') || arg === '-') positionals.push(arg);
    else {
      const { name, inline } = readName(arg, options);
      const option = options[name];
      if (option === undefined && strict)
        throw codedError('ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${arg}'`, TypeError);
      const takesValue = option?.type === 'string' && inline === undefined;
      if (takesValue) i += 1;
      store(values, name, option, takesValue ? args[i] : (inline ?? true));
    }
  }
  if (!allowPositionals && positionals.length > 0)
    throw codedError(
      'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL',
      `Unexpected argument '${positionals[0]}'. This command does not take positional arguments`,
      TypeError,
    );
  for (const [name, option] of Object.entries(options))
    if (option.default !== undefined) values[name] ??= option.default;
  return { values, positionals };
}

function readName(arg: string, options: Record<string, Option>): { name: string; inline?: string } {
  const isLong = arg.startsWith('--');
  const text = arg.slice(isLong ? 2 : 1);
  const equals = text.indexOf('=');
  const written = equals < 0 ? text : text.slice(0, equals);
  const byShort = Object.entries(options).find(([, option]) => option.short === written);
  const name = isLong ? written : (byShort?.[0] ?? written);
  return equals < 0 ? { name } : { name, inline: text.slice(equals + 1) };
}

function store(values: Record<string, unknown>, name: string, option: Option | undefined, value: unknown): void {
  if (option?.type === 'string' && typeof value !== 'string')
    throw codedError('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '--${name} <value>' argument missing`, TypeError);
  if (option?.multiple !== true) values[name] = value;
  else values[name] = [...((values[name] as unknown[] | undefined) ?? []), value];
}
