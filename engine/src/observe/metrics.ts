import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { nothingUsed, type StatPart } from '../events/index.ts';
import type { CommittedRun, RunCommit } from '../runs/index.ts';

interface WatchedParts {
  dispatcher: { stats(): { waiting: number; running: number; committing: number } };
  deliverer: { stats(): { held: number; inFlight: number } };
  sends: { stats(): { held: number; inFlight: number } };
  streams: { open(): number };
  /** Executions that wait, of all nodes. */
  waiting: () => Promise<number>;
  sandbox: { stats(): { processes: number; idleProcesses: number; runsInFlight: number; crashes: number } };
}

export interface EngineMetrics {
  runCommitted(run: RunCommit, committed: CommittedRun): void;
  /** `status`: how an execution ended, or that it waits. */
  executionCommitted(status: string): void;
  attemptEnded(outcome: 'delivered' | 'retried' | 'failed' | 'dropped', durationMs: number): void;
  /** So many bytes of history were more than their account may keep. */
  historyCut(bytes: number): void;
  /** Something made no progress although the database answers. */
  stuck(what: string): void;
  sendAttempted(kind: string, outcome: 'delivered' | 'retried' | 'failed'): void;
  /** Adds the use of accounts as it is stored. Absent without metrics per tenant. */
  accountsUsed: ((parts: readonly StatPart[]) => void) | undefined;
  watch(parts: WatchedParts): void;
  text(): Promise<string>;
}

const ATTEMPT_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/**
 * Figures of the engine. Labels are states and outcomes: never an id, a key or a tenant. With
 * `perTenant` what each account uses has the id of the account.
 */
export function createEngineMetrics({ perTenant = false }: { perTenant?: boolean } = {}): EngineMetrics {
  const registry = new Registry();
  const registers = [registry];
  const { runs, abandoned, executions, limited, events, attempts, sends, history, stuck } = createCounters(registers);

  function gauge(name: string, help: string, read: () => number | Promise<number>): void {
    // prom-client keeps it in the registry and calls collect when the text is read.
    void new Gauge({
      name,
      help,
      registers,
      async collect() {
        // A figure that cannot be read takes none of the others with it.
        this.set(await Promise.resolve(read()).catch(() => Number.NaN));
      },
    });
  }

  return {
    runCommitted(run, committed) {
      if (run.execution === undefined && run.publishedAs === undefined)
        runs.inc({ outcome: outcomeOf(run, committed) });
      if (run.abandoned !== undefined && committed.committed) abandoned.inc();
      const limit = committed.record?.errorLimit;
      if (limit !== undefined) limited.inc({ limit: limit.name });
      events.inc({ stage: 'emitted' }, run.emits.length);
      events.inc({ stage: 'stored' }, committed.events);
    },
    executionCommitted: (status) => executions.inc({ status }),
    attemptEnded: (outcome, durationMs) => attempts.observe({ outcome }, durationMs / 1000),
    stuck: (what) => stuck.inc({ what }),
    accountsUsed: perTenant ? createAccountCounters(registers) : undefined,
    historyCut: (bytes) => history.inc(bytes),
    sendAttempted: (kind, outcome) => sends.inc({ kind, outcome }),
    watch({ dispatcher, deliverer, sends: sender, sandbox, streams, waiting }) {
      gauge(
        'headwater_executions_waiting',
        'Executions of workflows that wait, on all nodes together.',
        atLowCost(waiting),
      );
      gauge('headwater_streams_open', 'Streams of events and log lines that are open.', () => streams.open());
      gauge('headwater_runs_waiting', 'Invocations held but not started.', () => dispatcher.stats().waiting);
      gauge('headwater_runs_in_flight', 'Invocations being run.', () => dispatcher.stats().running);
      gauge(
        'headwater_runs_committing',
        'Invocations that ran and wait for their commit.',
        () => dispatcher.stats().committing,
      );
      gauge('headwater_deliveries_held', 'Deliveries held but not started.', () => deliverer.stats().held);
      gauge('headwater_deliveries_in_flight', 'Delivery attempts under way.', () => deliverer.stats().inFlight);
      gauge('headwater_sends_held', 'Sends held but not started.', () => sender.stats().held);
      gauge('headwater_sends_in_flight', 'Attempts of sends under way.', () => sender.stats().inFlight);
      gauge('headwater_sandbox_processes', 'Sandbox processes.', () => sandbox.stats().processes);
      gauge('headwater_sandbox_crashes', 'Sandbox processes that ended unexpectedly.', () => sandbox.stats().crashes);
    },
    text: () => registry.metrics(),
  };
}

/** A read that takes long is repeated seldom: it takes up to a hundredth of the time. */
const ANSWER_AGE_PER_COST = 100;

/** However often it is asked for. Callers meanwhile share the read that is under way. */
function atLowCost<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  let validUntilMs = Number.POSITIVE_INFINITY;
  const forget = (failed: Promise<T>) => {
    if (reading === failed) reading = undefined;
  };
  return () => {
    if (reading !== undefined && performance.now() < validUntilMs) return reading;
    const beganMs = performance.now();
    validUntilMs = Number.POSITIVE_INFINITY;
    const begun = read();
    reading = begun;
    begun.then(
      () => (validUntilMs = performance.now() + ANSWER_AGE_PER_COST * (performance.now() - beganMs)),
      () => forget(begun),
    );
    return begun;
  };
}

function outcomeOf(run: RunCommit, committed: CommittedRun): string {
  if (!committed.committed) return 'lost';
  if (!run.final) return 'part';
  return committed.record?.errorCode === undefined ? 'ok' : 'error';
}

const ACCOUNT_COUNTERS = {
  requests: ['headwater_account_requests_total', 'Requests at endpoints and to the API.'],
  runs: ['headwater_account_runs_total', 'Runs and executions that ended.'],
  runMs: ['headwater_account_run_seconds_total', 'Time that its code ran.'],
  cpuMs: ['headwater_account_cpu_seconds_total', 'Processor time that its code took.'],
  events: ['headwater_account_events_total', 'Events that were stored.'],
  deliveries: ['headwater_account_deliveries_total', 'Deliveries that were accepted.'],
  attempts: ['headwater_account_attempts_total', 'Attempts of deliveries and sends.'],
  bytesIn: ['headwater_account_received_bytes_total', 'Bodies that came in.'],
  bytesOut: ['headwater_account_sent_bytes_total', 'Bodies that went out.'],
} as const;

/** By account, a few seconds late: they are added when they are stored, not on the way of a run. */
function createAccountCounters(registers: Registry[]): (parts: readonly StatPart[]) => void {
  const counters = Object.entries(ACCOUNT_COUNTERS).map(
    ([counter, [name, help]]) => [counter, new Counter({ name, help, labelNames: ['account'], registers })] as const,
  );
  return (parts) => {
    for (const { accountId, subjectId, counts, use = nothingUsed() } of parts) {
      if (subjectId !== accountId) continue;
      const { runsOk, runsFailed, emitted, delivered } = counts;
      const all: Record<string, number> = {
        ...use,
        runMs: use.runMs / 1000,
        cpuMs: use.cpuMs / 1000,
        runs: runsOk + runsFailed,
        events: emitted,
        deliveries: delivered,
      };
      for (const [name, counter] of counters) counter.inc({ account: accountId }, all[name] ?? 0);
    }
  };
}

function createCounters(registers: Registry[]) {
  const runs = new Counter({
    name: 'headwater_runs_total',
    help: 'Runs and parts of runs that were committed, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const abandoned = new Counter({
    name: 'headwater_runs_abandoned_total',
    help: 'Runs of sources that were given up because their sandbox process ended again and again, and wait for a retry.',
    registers,
  });
  const executions = new Counter({
    name: 'headwater_executions_total',
    help: 'Executions of workflows that ended on this node, by how, and those that began to wait.',
    labelNames: ['status'],
    registers,
  });
  const limited = new Counter({
    name: 'headwater_runs_over_limit_total',
    help: 'Runs that a limit ended, by the name of the limit.',
    labelNames: ['limit'],
    registers,
  });
  const events = new Counter({
    name: 'headwater_events_total',
    help: 'Events: emitted by components, and stored after dedupe.',
    labelNames: ['stage'],
    registers,
  });
  const sends = new Counter({
    name: 'headwater_send_attempts_total',
    help: 'Attempts of sends, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const attempts = new Histogram({
    name: 'headwater_delivery_attempt_duration_seconds',
    help: 'Delivery attempts, by outcome.',
    labelNames: ['outcome'],
    buckets: ATTEMPT_BUCKETS_SECONDS,
    registers,
  });
  const history = new Counter({
    name: 'headwater_history_cut_bytes_total',
    help: 'Bytes of events, records and deliveries that were deleted before their time: their account had more than maxHistoryBytes.',
    registers,
  });
  const stuck = new Counter({
    name: 'headwater_stuck_total',
    help: 'Commits given up although the database answers, by kind of item.',
    labelNames: ['what'],
    registers,
  });
  return { runs, abandoned, executions, limited, events, attempts, sends, history, stuck };
}
