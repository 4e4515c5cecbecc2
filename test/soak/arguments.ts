import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface SoakArguments {
  /** Length of the load with faults. The start before it and the drain after it take longer. */
  minutes: number;
  /** Seed for faults, duplicates and failures of receivers. */
  seed: number;
  /** Requests a second to sources, over both accounts. Workflows get 2 for every 13. */
  ratePerSecond: number;
  /** Events of each of these requests. */
  emits: number;
  /** Checkout of the project that half of the nodes are of. Default: this one. */
  beside?: string;
  /** Keep the folder, with the database, also after a clean run. */
  keep: boolean;
  /** Default: a new folder where the system keeps temporary files. */
  folder?: string;
}

export const USAGE = `npm run soak -- [options]

Runs two api and two engine nodes on a Postgres of its own, sends requests to them and kills processes
at random. Then it accounts for every id. Ends with 1 when anything was lost, doubled or is stuck.

  --minutes <n>   of load with faults, from 0.2 to 1440 (2)
  --seed <n>      of the faults (random)
  --rate <n>      requests a second to sources, from 1 to 5000; workflows get 2 for every 13 (130)
  --emits <n>     events of each of these requests, from 1 to 50 (1)
  --beside <dir>  start one api and one engine node of the project that is checked out and installed there
  --keep          keep the folder with logs, timeline and database also after a clean run
  --folder <dir>  where that is kept (a new one in the folder for temporary files)`;

const MAX_SEED = 2 ** 31;

/** Throws with one line for each fault. */
export function readArguments(argv: readonly string[]): SoakArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(randomInt(MAX_SEED)) },
      rate: { type: 'string', default: '130' },
      emits: { type: 'string', default: '1' },
      keep: { type: 'boolean', default: false },
      folder: { type: 'string' },
      beside: { type: 'string' },
    },
  });
  const faults: string[] = [];
  const number = (name: 'minutes' | 'seed' | 'rate' | 'emits', min: number, max: number): number => {
    const value = Number(values[name]);
    if (!(value >= min && value <= max))
      faults.push(`--${name} is a number from ${min} to ${max}, not ${values[name]}`);
    return value;
  };
  const read: SoakArguments = {
    minutes: number('minutes', 0.2, 1_440),
    seed: number('seed', 0, MAX_SEED),
    ratePerSecond: number('rate', 1, 5_000),
    emits: Math.round(number('emits', 1, 50)),
    keep: values.keep,
    ...(values.folder === undefined ? {} : { folder: values.folder }),
    ...(values.beside === undefined ? {} : { beside: values.beside }),
  };
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return read;
}
