import { parseArgs } from 'node:util';

export interface CompatArguments {
  folder: string;
  /** A server that runs already; absent: one is started for the report and ended with it. */
  server?: { url: string; apiKey: string };
  /** Data folder of a started server, packages included; absent: a temporary folder. */
  dataDir?: string;
  json: boolean;
  /** Also run each component that was saved, in the sandbox and in Node.js. */
  run: boolean;
  /** Maximum number of components. */
  limit?: number;
  /**
   * Takes the components in an order that this text decides, so that `limit` is a sample and can be
   * repeated.
   */
  sample?: string;
  /** Components that are saved at the same time. */
  concurrency: number;
}

const MAX_CONCURRENCY = 64;
const DEFAULT_CONCURRENCY = '4';

export const USAGE = `npm run compat -- <folder> [options]

Saves every component below the folder through the REST API and reports what did not save, and why. A component is a
file in a folder sources/ or actions/ whose default export has a name, a version and a run method.

  --url <url>          of a running server; else one is started on a folder of its own
  --key <key>          API key for --url
  --data <folder>      data folder of the server that is started, kept afterwards: packages are then fetched once
  --limit <n>          at most so many components
  --sample <seed>      in an order that the seed decides, instead of by path
  --concurrency <n>    saved at the same time (${DEFAULT_CONCURRENCY})
  --run                also run what was saved, in the sandbox and in Node.js, against a mock of any HTTP API
  --json               prints { total, saved, failed: [{ path, cause, message }] } and nothing else`;

/** Throws with one line per error. */
export function readArguments(argv: readonly string[]): CompatArguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      data: { type: 'string' },
      limit: { type: 'string' },
      sample: { type: 'string' },
      concurrency: { type: 'string', default: DEFAULT_CONCURRENCY },
      json: { type: 'boolean', default: false },
      run: { type: 'boolean', default: false },
    },
  });
  const [folder, ...rest] = positionals;
  const { url, key, data, sample } = values;
  const limit = values.limit === undefined ? undefined : Number(values.limit);
  const concurrency = Number(values.concurrency);
  const faults = [
    folder === undefined || rest.length > 0 ? 'Name one folder of components' : '',
    (url === undefined) === (key === undefined) ? '' : '--url and --key go together',
    url === undefined || URL.canParse(url) ? '' : '--url is not a URL',
    limit === undefined || (Number.isInteger(limit) && limit > 0) ? '' : '--limit must be a whole number above 0',
    isBetween(concurrency, 1, MAX_CONCURRENCY) ? '' : `--concurrency must be from 1 to ${MAX_CONCURRENCY}`,
  ].filter((fault) => fault !== '');
  if (folder === undefined || faults.length > 0) throw new Error(faults.join('\n'));
  return {
    folder,
    json: values.json,
    run: values.run,
    concurrency,
    ...(url === undefined || key === undefined ? {} : { server: { url: url.replace(/\/+$/, ''), apiKey: key } }),
    ...(data === undefined ? {} : { dataDir: data }),
    ...(limit === undefined ? {} : { limit }),
    ...(sample === undefined ? {} : { sample }),
  };
}

function isBetween(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
