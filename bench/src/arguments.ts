import { parseArgs } from 'node:util';

export interface BenchArguments {
  command: string;
  /** Events of the closed loop; open loops and warm-up derive their counts from it. */
  events: number;
  connections: number;
  /** e2e: accounts that share the requests, each with its source and its webhook. */
  accounts: number;
  /** Size of each request's JSON body. */
  bodyBytes: number;
  /**
   * Timers that are due within one minute, and a tenth of them in one second; the sources that they
   * belong to.
   */
  timers: number;
  sources: number;
  /** Executions that wait, and as many that are queued. */
  executions: number;
  /** lists: in the table. */
  deliveries: number;
  /** deliver: for dead webhooks, beside another account. */
  waiting: number;
  /** The longest that one phase of load may take to send; what was not sent by then is left out. */
  maxPhaseMs: number;
  /** Receiver checks every n-th signature. */
  verifyEvery: number;
  json: boolean;
  /** Whether it works, not how fast: tiny counts. */
  quick: boolean;
  /** answer, workflow: another working tree, measured in turn with this one. */
  before?: string;
  profile: boolean;
  baselines: boolean;
  /** hostile: only the attacks of that group, or of that name. */
  group?: string;
  attack?: string;
  /** hostile: requests of the neighbour in each phase. */
  samples: number;
}

const BOUNDS = {
  events: { min: 100, max: 1_000_000 },
  connections: { min: 1, max: 1_024 },
  accounts: { min: 1, max: 1_000 },
  timers: { min: 1, max: 100_000 },
  sources: { min: 1, max: 100_000 },
  deliveries: { min: 10_000, max: 10_000_000 },
  waiting: { min: 1_000, max: 10_000_000 },
  executions: { min: 1_000, max: 1_000_000 },
  'body-bytes': { min: 200, max: 500_000 },
  seconds: { min: 1, max: 300 },
  samples: { min: 100, max: 10_000 },
} as const;

const SAMPLED_VERIFY_EVERY = 100;
const QUICK_EVENTS = 200;

export const USAGE = `npm run bench -- <command> [options]

  e2e       request → stored → run in the sandbox → signed receipt, next to raw baselines
  ingest    request → stored → answered, with a source that emits nothing
  answer    request → run → the component's own answer, beside workerd and Node-RED (installed for it) and a Hono echo
  run       runs of a component in its sandbox, in process, without database or HTTP
  isolate   cold start, warm call and memory of an isolate
  start     first and later starts of the whole system, and its memory with some tenants
  timers    how late timers are: many in one minute, then many in one second
  workflow  request → steps, each durable → answer, beside Restate and DBOS (installed for it, not dependencies)
  deliver   drain of pending deliveries, beside raw signed POSTs
  lists     lists, filters and stats of deliveries, with a million of them
  recovery  work that a dead node left, beside the same work when it comes by itself
  waiting   what executions that wait and that are queued cost everything else
  hostile   what a neighbour sees of every attack in test/hostile

  --events <n>        of the closed loop; deliver: pending in each case; recovery: of each round (20000)
  --connections <n>   kept open by the driver; for run: runs in flight (64; answer: 32)
  --accounts <n>      e2e: that share the requests, each with its source and webhook (1)
  --timers <n>        timers: due within one minute; a tenth of them in one second (10000)
  --sources <n>       timers: that they belong to, as many to each (200)
  --executions <n>    waiting: that wait, and as many that are queued (100000)
  --deliveries <n>    lists: in the table (1000000)
  --waiting <n>       deliver: for dead webhooks, in the cases n, o and p (1000000)
  --body-bytes <n>    of each request (500)
  --seconds <n>       the longest that one phase may send (60)
  --verify            check the signature of every event instead of every ${SAMPLED_VERIFY_EVERY}th
  --no-baselines      leave out the raw measurements; workflow, answer: the other systems
  --profile           e2e, answer, deliver, workflow: where the time of the server's main thread goes in the closed loop
  --group <name>      hostile: only the attacks in that folder; deliver: only the cases abcdfghnop by letter
  --attack <name>     hostile: only the attack of that name
  --samples <n>       hostile: requests of the neighbour in each phase (240)
  --before <folder>   answer, workflow: another working tree, measured in turn with this one; deliver: in its place
  --quick             tiny counts: whether it works, not how fast
  --json              one JSON document instead of text`;

/** Throws with what is wrong in one line a fault. */
export function readArguments(argv: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    allowNegative: true,
    options: {
      events: { type: 'string' },
      connections: { type: 'string' },
      accounts: { type: 'string', default: '1' },
      timers: { type: 'string', default: '10000' },
      sources: { type: 'string', default: '200' },
      deliveries: { type: 'string', default: '1000000' },
      waiting: { type: 'string' },
      executions: { type: 'string', default: '100000' },
      'body-bytes': { type: 'string', default: '500' },
      seconds: { type: 'string', default: '60' },
      verify: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      baselines: { type: 'boolean', default: true },
      group: { type: 'string' },
      attack: { type: 'string' },
      before: { type: 'string' },
      quick: { type: 'boolean', default: false },
      samples: { type: 'string', default: '240' },
    },
  });
  const [command = ''] = positionals;
  values.events ??= values.quick ? String(QUICK_EVENTS) : '20000';
  values.waiting ??= values.quick ? String(BOUNDS.waiting.min) : '1000000';
  values.connections ??= command === 'answer' ? '32' : '64';
  const faults: string[] = [];
  const count = (name: keyof typeof BOUNDS): number => {
    const value = Number(values[name]);
    const { min, max } = BOUNDS[name];
    if (!Number.isInteger(value) || value < min || value > max) {
      faults.push(`--${name} is a whole number from ${min} to ${max}, not ${values[name]}`);
    }
    return value;
  };
  const read = {
    command,
    events: count('events'),
    connections: count('connections'),
    accounts: count('accounts'),
    timers: count('timers'),
    sources: count('sources'),
    deliveries: count('deliveries'),
    waiting: count('waiting'),
    executions: count('executions'),
    bodyBytes: count('body-bytes'),
    maxPhaseMs: count('seconds') * 1_000,
    verifyEvery: values.verify ? 1 : SAMPLED_VERIFY_EVERY,
    json: values.json,
    quick: values.quick,
    profile: values.profile,
    baselines: values.baselines,
    samples: count('samples'),
    ...(values.before === undefined ? {} : { before: values.before }),
    ...(values.group === undefined ? {} : { group: values.group }),
    ...(values.attack === undefined ? {} : { attack: values.attack }),
  };
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return read;
}
