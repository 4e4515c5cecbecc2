import { setTimeout as sleep } from 'node:timers/promises';
import { childProcesses } from '../support/child-processes.ts';
import type { NodeProcess } from './node-process.ts';
import type { PlannedFault } from './plan-faults.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { Timeline } from './timeline.ts';

export interface FaultTargets {
  nodes: readonly NodeProcess[];
  postgres: PostgresServer;
  timeline: Timeline;
}

/** Counts executed faults, and faults without a target, by kind. */
export type FaultCounts = Record<string, number>;

/**
 * Executes the faults at their times. Resolves after `durationMs` and after the last fault is over:
 * frozen nodes continue, and Postgres is back.
 */
export async function injectFaults(
  faults: readonly PlannedFault[],
  durationMs: number,
  targets: FaultTargets,
  signal: AbortSignal,
): Promise<FaultCounts> {
  const beganAtMs = performance.now();
  const counts: FaultCounts = {};
  const lasting: Promise<void>[] = [];
  const untilMs = (atMs: number) =>
    // Aborted: the soak is interrupted, and its caller stops everything.
    sleep(Math.max(0, beganAtMs + atMs - performance.now()), undefined, { signal }).catch(() => undefined);
  for (const fault of faults) {
    await untilMs(fault.atMs);
    if (signal.aborted) break;
    const begun = await begin(fault, targets, signal);
    const name = begun === undefined ? 'nothing to hit' : fault.kind;
    counts[name] = (counts[name] ?? 0) + 1;
    targets.timeline.add(fault.kind, begun?.hit ?? { nothing: 'to hit' });
    if (begun?.over !== undefined) lasting.push(begun.over);
  }
  await untilMs(durationMs);
  await Promise.all(lasting);
  return counts;
}

interface Begun {
  hit: Record<string, unknown>;
  over?: Promise<void>;
}

async function begin(fault: PlannedFault, targets: FaultTargets, signal: AbortSignal): Promise<Begun | undefined> {
  const { kind } = fault;
  switch (kind) {
    case 'kill-api':
    case 'kill-engine':
    case 'stop-api':
    case 'stop-engine':
    case 'freeze-api':
    case 'freeze-engine':
      return hitNode(fault, targets, signal);
    case 'kill-nodes':
      return killNodes(targets.nodes);
    case 'kill-sandbox':
      return killSandbox(fault, targets.nodes);
    case 'terminate-backend':
    case 'kill-backend':
      return hitBackend(fault, targets.postgres);
    case 'kill-postgres':
      if (!targets.postgres.isUp()) return undefined;
      return { hit: { downMs: Math.round(fault.lastsMs) }, over: targets.postgres.killAll(fault.lastsMs) };
  }
}

function hitNode(fault: PlannedFault, { nodes, timeline }: FaultTargets, signal: AbortSignal): Begun | undefined {
  const [how, role] = fault.kind.split('-');
  const node = choose(
    nodes.filter((one) => one.role === role && (how === 'freeze' ? one.canBeHit() : one.canBeEnded())),
    fault.choice,
  );
  if (node === undefined) return undefined;
  const hit = { node: node.name, pid: node.pid() };
  if (how === 'kill') node.kill();
  else if (how === 'stop') node.askToStop();
  else {
    node.freeze();
    const over = sleep(fault.lastsMs, undefined, { signal })
      .catch(() => undefined)
      .then(() => {
        node.thaw();
        timeline.add('thawed', { node: node.name });
      });
    return { hit, over };
  }
  return { hit };
}

/** Kills all running nodes at once, so that no node can take over; those that start once stay. */
function killNodes(nodes: readonly NodeProcess[]): Begun | undefined {
  const hit = nodes.filter((node) => node.canBeEnded());
  for (const node of hit) node.kill();
  return hit.length === 0 ? undefined : { hit: { nodes: hit.map(({ name }) => name) } };
}

/** A sandbox process of any node. */
function killSandbox(fault: PlannedFault, nodes: readonly NodeProcess[]): Begun | undefined {
  const all = nodes.flatMap((node) => {
    const pid = node.pid();
    return pid === undefined ? [] : childProcesses(pid).map((child) => ({ node: node.name, pid: child.pid }));
  });
  const chosen = choose(all, fault.choice);
  if (chosen === undefined) return undefined;
  process.kill(chosen.pid, 'SIGKILL');
  return { hit: chosen };
}

interface Backend {
  pid: number;
  name: string;
  state: string;
}

/**
 * Terminated alone it ends alone. Killed, it takes all others along: Postgres recovers as after a
 * crash.
 */
async function hitBackend(fault: PlannedFault, postgres: PostgresServer): Promise<Begun | undefined> {
  if (!postgres.isUp()) return undefined;
  try {
    return await postgres.withConnection(async (sql) => {
      const backends = await sql<Backend[]>`
        select pid, application_name as name, state from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() order by pid`;
      const backend = choose(backends, fault.choice);
      if (backend === undefined) return undefined;
      if (fault.kind === 'kill-backend') process.kill(backend.pid, 'SIGKILL');
      else await sql`select pg_terminate_backend(${backend.pid})`;
      return { hit: { ...backend } };
    });
  } catch {
    // The server is recovering from the fault before.
    return undefined;
  }
}

function choose<T>(list: readonly T[], choice: number): T | undefined {
  return list[Math.floor(choice * list.length)];
}
