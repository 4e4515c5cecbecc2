import type { Stops } from '../db/index.ts';
import { createKeyUses, type KeyUses } from '../accounts/index.ts';
import { type Changes, followChanges, followSuspensions, startUnheldLeases } from '../cluster/index.ts';
import type { AuthCache } from '../connections/index.ts';
import type { OpenEnvironment } from '../environment/index.ts';
import { createIngest } from '../ingest/index.ts';
import { createIntake, type Intake, startTelling } from '../runs/index.ts';
import { createInTurnIntake, type InTurnIntake, TURN_CHANNEL } from '../workflows/index.ts';
import type { Outbox } from './assemble-outbox.ts';
import type { Runs } from './assemble-runs.ts';
import type { Ground } from './ground.ts';
import type { AccountCounts } from './start-account-counts.ts';

interface IntakeNeeds {
  ground: Ground;
  counts: Pick<AccountCounts, 'backlogs' | 'stats'>;
  outbox: Pick<Outbox, 'deliverer' | 'sendRunner'>;
  runs: Runs;
  auth: AuthCache;
  environment: OpenEnvironment;
}

export interface IntakeParts {
  intake: Intake;
  inTurn: InTurnIntake;
  ingest: ReturnType<typeof createIngest>;
  keyUses: KeyUses;
  changes: Changes;
  /** Last started, first stopped. Not `changes`: runs that end still need it. */
  stops: Stops;
}

/** Starts the parts that accept requests and the parts that listen to other nodes. */
export async function startIntake({
  ground,
  counts,
  outbox,
  runs,
  auth,
  environment,
}: IntakeNeeds): Promise<IntakeParts> {
  const { sql, node, limits, watchdog, log } = ground;
  const { backlogs, stats } = counts;
  const { dispatcher, turns, clients, executions, runtimes } = runs;
  const { deliverer, sendRunner: sends } = outbox;
  const nodeId = node.id;
  node.onLost(dispatcher.loseNode);
  watchdog.look('invocations that this node holds', () => {
    const held = dispatcher.stats();
    return held.waiting > 0 && held.running === 0 && held.committing === 0;
  });
  const inTurn = createInTurnIntake({ sql, nodeId, dispatcher, turns, clients, stats });
  const intake = createIntake({ sql, nodeId, dispatcher, backlogs, stats, watch: watchdog.part('requests') });
  const ingest = createIngest({ sql, limits, inTurn, backlogs, intake, traces: ground.traces });
  const keyUses = createKeyUses(sql, log);
  followSuspensions({ sql, limits, dispatcher, deliverer, sends, log });
  const stopListening = await listenForTurns(ground, runs);
  const workflows = executions.runtimes.state;
  const changes = await followChanges(sql, { runtimes, workflows, ingest, limits, auth, environment, deliverer, log });
  const stopLooking = startUnheldLeases({ sql, nodeId, dispatcher, deliverer, sends, log });
  const stopTelling = startTelling({ sql, committer: runs.publishing, log });
  const stops = {
    'turns of other nodes': stopListening,
    'waiting clients': async () => clients.stop(),
    'unheld leases': stopLooking,
    'operational events': stopTelling,
    'uses of keys': keyUses.stop,
  };
  return { intake, inTurn, ingest, keyUses, changes, stops };
}

/** Starts the next execution where another node says that it is this one's. Answers the end. */
async function listenForTurns({ sql, node }: Ground, { turns }: Runs): Promise<() => Promise<void>> {
  const { unlisten } = await sql.listen(TURN_CHANNEL, (payload) => {
    const [nodeId, accountId, workflowId] = payload.split(' ');
    if (nodeId !== node.id() || accountId === undefined || workflowId === undefined) return;
    turns.next({ accountId, workflowId });
  });
  return unlisten;
}
