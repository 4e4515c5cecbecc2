import { afterAll, beforeAll, expect, it } from 'vitest';
import { HeadwaterError } from '@headwater/shared';
import {
  EXECUTION_NODES,
  type ExecutionMove,
  executionMoves,
  PASS_MS,
  WORKFLOWS,
} from '../../support/execution-moves.ts';
import type { Answer, ExecutionNode } from '../../support/execution-parts.ts';
import {
  brokenExecutionRules,
  type ExecutionChange,
  isLegalChange,
  isTrueAnswer,
  passedOf,
  same,
} from '../../support/execution-rules.ts';
import type { ExecutionRows, ExecutionState } from '../../support/execution-states.ts';
import { createExecutionWorld, type ExecutionWorld } from '../../support/execution-world.ts';
import { modelHistories, type ModelDatabase, pick, startModelDatabase, subset } from '../../support/model-harness.ts';
import type { JobState } from '../../support/model-nodes.ts';
import { fc } from '../../support/properties.ts';

/*
 * Executions of workflows under random moves of two nodes and their users: steps, waits, ends,
 * cancels and replays. They include crashes, lost leases, and connections cut at any statement.
 * After each move, every execution is in a state that the move allows, and each open one has a
 * lease or a job. At the end, the remaining executions finish on their own.
 */

let model: ModelDatabase;

beforeAll(async () => {
  model = await startModelDatabase();
});
afterAll(() => model.stop());

class History {
  readonly faults: string[] = [];
  readonly #world: ExecutionWorld;
  readonly #accepted = new Set<string>();
  readonly #silent = new Set<string>();
  /** Workflows whose deletion has begun. */
  readonly #doomed = new Set<string>();
  /** Number of replays that users requested, by replayed execution. */
  readonly #replays = new Map<string, number>();
  #before: ExecutionRows;
  #brought = 0;

  constructor(world: ExecutionWorld, before: ExecutionRows) {
    this.#world = world;
    this.#before = before;
  }

  async play(next: ExecutionMove): Promise<void> {
    const actor = this.#actorOf(next);
    const { id } = actor;
    const target = this.#targetOf(next);
    const { done, error, wasCut } = await model.attempt(next.cut, () => this.#do(next, actor, target));
    const isRefused = error instanceof HeadwaterError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND');
    if (error !== undefined && !isRefused) this.faults.push(`${next.kind} failed: ${error.stack}`);
    const failed = actor.failures.splice(0);
    if (!wasCut) for (const one of failed) this.faults.push(`${next.kind} failed in a node: ${one.error.stack}`);
    const after = await this.#world.read();
    const targetId = typeof target === 'object' ? target.key : target;
    this.#judge(next, { actor: id, target: targetId, failed: new Set(failed.map((one) => one.id)) }, after);
    this.#judgeAnswer(next, targetId ?? '', after, { done, isRefused });
    for (const answer of actor.answers.splice(0)) this.#judgeCommit(next, answer, after);
    this.#before = after;
  }

  /** One that has something for the move, if any has. */
  #actorOf({ kind, node: at }: ExecutionMove): ExecutionNode {
    const { nodes } = this.#world;
    const isAble = (one: ExecutionNode) => {
      if (kind === 'run') return [...one.parts.values()].some(({ isBusy }) => !isBusy);
      if (kind === 'try-again') return one.pauses.count() > 0;
      if (kind === 'give-back') return one.parts.size > 0;
      if (kind === 'declare-dead') return one.parts.size > 0 && !this.#silent.has(one.id);
      return true;
    };
    return (pick(nodes.filter(isAble), at) ?? nodes[at]) as ExecutionNode;
  }

  /** The execution, the workflow or the job that the move is made on. */
  #targetOf(next: ExecutionMove): string | JobState | undefined {
    const { workflows } = this.#world;
    const idsOf = (isFit: (state: ExecutionState) => boolean) =>
      [...this.#before.executions].flatMap(([id, state]) => (isFit(state) ? [id] : []));
    switch (next.kind) {
      case 'work':
        return pick(this.#dueJobs(), next.which);
      case 'resume': {
        const parked = idsOf(({ lease }) => lease?.holder === 'parked');
        const open = idsOf(({ lease }) => lease !== null && lease.claim > 0);
        // Also those that were resumed before.
        const resumed = idsOf(({ lease, wait }) => lease?.holder === 'parked' && wait?.data !== null);
        return pick([resumed, parked].find(({ length }) => length > 0 && next.which % 4 !== 0) ?? open, next.which);
      }
      case 'cancel':
        return pick(
          idsOf(({ lease }) => next.which % 4 === 0 || lease !== null),
          next.which,
        );
      case 'replay':
        return pick(
          idsOf(({ record }) => record?.hasEnded === true),
          next.which,
        );
      case 'retry':
        return (
          [...this.#before.executions.values()].find(({ record }) => record?.status === 'failed')?.workflow ??
          pick(workflows, next.which)
        );
      case 'activate':
      case 'deactivate':
        return pick(workflows, next.which);
      case 'delete':
        return workflows.at(-1);
      default:
        return undefined;
    }
  }

  #dueJobs(): JobState[] {
    return this.#before.jobs.filter(({ pool, runAtMs }) => pool === null && runAtMs <= Date.now());
  }

  /** Resolves with the answer to the caller. */
  async #do(next: ExecutionMove, actor: ExecutionNode, target: string | JobState | undefined): Promise<unknown> {
    const { moves, workflows, nodes } = this.#world;
    const { sql } = model.test.db;
    const id = target as string;
    switch (next.kind) {
      case 'accept':
        return this.#doomed.has(workflows[next.workflow] as string) ? undefined : moves.accept(actor, next);
      case 'work':
        return target && moves.work(actor, target as JobState, next.limit);
      case 'run':
        return moves.run(actor, next.steps, next.goesOn);
      case 'try-again':
        return moves.tryAgain(actor);
      case 'resume':
        return target && moves.resume(id, this.#tokenFor(id, next.isStale), `"brought ${++this.#brought}"`);
      case 'cancel':
        return target && moves.cancel(id);
      case 'replay':
        if (target === undefined) return undefined;
        this.#replays.set(id, (this.#replays.get(id) ?? 0) + 1);
        return moves.replay(id, next.from);
      case 'retry':
        return moves.retry(id);
      case 'activate':
      case 'deactivate':
        return moves.activate(id, next.kind === 'activate').finally(() => moves.forget(id));
      case 'delete':
        this.#doomed.add(id);
        return moves.remove(id).finally(() => moves.forget(id));
      case 'give-back':
        return moves.giveBack(
          actor,
          subset(actor.parts.values(), next.some).flatMap(({ isBusy, invocation }) => (isBusy ? [] : [invocation])),
        );
      case 'give-back-unheld':
        return moves.giveBackUnheld(actor);
      case 'pass':
        return moves.pass(sql, PASS_MS);
      case 'requeue':
        return moves.requeue();
      case 'crash':
        this.#silent.add(actor.id);
        await moves.silence(sql, actor.id);
        return moves.crash(sql, nodes.indexOf(actor));
      case 'silence':
        this.#silent.add(actor.id);
        return moves.silence(sql, actor.id);
      case 'declare-dead':
        this.#silent.add(actor.id);
        await moves.silence(sql, actor.id);
        return moves.recover(model.cutOff.sql, nodes.find((one) => one !== actor) as ExecutionNode);
      case 'recover':
        return moves.recover(model.cutOff.sql, actor);
      case 'beat':
        await moves.beat(sql, actor);
        return this.#silent.delete(actor.id);
      case 'stop':
        return moves.stop(sql, nodes.indexOf(actor));
    }
  }

  /**
   * Token of the current wait, or of the current step's run. A stale token is that of the previous
   * run.
   */
  #tokenFor(id: string, isStale: boolean): string {
    const { wait, steps, lease } = this.#before.executions.get(id) as ExecutionState;
    if (wait !== null && lease?.holder === 'parked' && !isStale) return wait.token;
    const position = passedOf(steps);
    const runs = (wait !== null && wait.kind !== 'early' ? wait.runs : 0) + (isStale ? 0 : 1);
    return this.#world.tokenOf(id, { position, runs: Math.max(1, runs) });
  }

  #judge(next: ExecutionMove, made: Pick<ExecutionChange, 'actor' | 'target' | 'failed'>, after: ExecutionRows): void {
    const before = this.#before;
    const say = (fault: string) => this.faults.push(`after ${next.kind}: ${fault}`);
    const isDead = (holder: string) => this.#silent.has(holder) || !before.nodes.has(holder);
    const original = (id: string) => before.executions.get(id);
    for (const id of new Set([...before.executions.keys(), ...after.executions.keys()])) {
      this.#accepted.add(id);
      const [was, is] = [before.executions.get(id), after.executions.get(id)];
      const isTimeAlone = next.kind === 'pass' && same(timeless(was), timeless(is));
      if (same(was, is) || isTimeAlone) continue;
      if (!isLegalChange({ ...made, kind: next.kind, id, was, is, isDead, original }))
        say(`${id} went from ${JSON.stringify(was)} to ${JSON.stringify(is)}`);
    }
    const isDoomed = (id: string) =>
      this.#doomed.has(before.executions.get(id)?.workflow ?? [...this.#doomed][0] ?? '');
    const doomed = new Set([...this.#accepted].filter(isDoomed));
    for (const fault of brokenExecutionRules(after, this.#accepted, doomed)) say(fault);
    const replays = Map.groupBy(after.executions.values(), ({ record }) => record?.replayOf ?? '');
    for (const [id, all] of replays)
      if (id !== '' && all.length > (this.#replays.get(id) ?? 0) + 1) say(`${id} was retried twice`);
  }

  /** The caller was told the outcome. */
  #judgeAnswer(
    next: ExecutionMove,
    id: string,
    after: ExecutionRows,
    { done, isRefused }: { done: unknown; isRefused: boolean },
  ): void {
    const say = (fault: string) => this.faults.push(`after ${next.kind}: ${fault}`);
    const hasChanged = !same([...this.#before.executions], [...after.executions]);
    if (isRefused && hasChanged && next.kind !== 'delete') say('it was refused and has changed something');
    if (next.kind === 'resume' && typeof done === 'boolean' && done !== hasChanged)
      say(`its answer to ${id} was ${done}`);
    if (next.kind !== 'retry' || typeof done !== 'number' || !this.#before.active.has(id)) return;
    if (after.executions.size - this.#before.executions.size !== done) say(`it told of ${done}`);
    const replayed = new Set([...after.executions.values()].map(({ record }) => record?.replayOf));
    for (const [failed, { workflow, record }] of after.executions)
      if (workflow === id && record?.status === 'failed' && !replayed.has(failed)) say(`${failed} was left out`);
  }

  #judgeCommit(next: ExecutionMove, answer: Answer, after: ExecutionRows): void {
    if (!isTrueAnswer(answer, this.#before, after))
      this.faults.push(`after ${next.kind}: a commit answered ${JSON.stringify(answer)}`);
  }

  /** All nodes but one are gone, and that one has no faults. */
  async finish(): Promise<void> {
    const base = { node: 0, cut: undefined };
    const { nodes, workflows, moves } = this.#world;
    for (let at = 0; at < EXECUTION_NODES; at++) await this.play({ ...base, node: at, kind: 'crash' });
    for (const id of this.#before.nodes) {
      if (id === nodes[0]?.id) continue;
      this.#silent.add(id);
      await moves.silence(model.test.db.sql, id);
    }
    await this.play({ ...base, kind: 'recover' });
    for (const [at, id] of workflows.entries())
      if (!this.#doomed.has(id)) await this.play({ ...base, kind: 'activate', which: at });
    for (let round = 0; this.#isOpen(); round++) {
      if (round > 60 || this.faults.length > 0) {
        this.faults.push('what was left did not come to its end');
        return;
      }
      await this.play({ ...base, kind: 'pass' });
      for (let jobs = this.#dueJobs().length; jobs > 0; jobs--)
        await this.play({ ...base, kind: 'work', which: 0, limit: 10 });
      const step = { kind: 'done' as const, emits: false, isSecond: false, ms: 0 };
      const steps = [...(nodes[0]?.parts.keys() ?? [])].map(() => ({ ...step, which: 0 }));
      await this.play({ ...base, kind: 'run', steps });
    }
  }

  #isOpen(): boolean {
    return [...this.#before.executions.values()].some(
      ({ lease, workflow }) => lease !== null && !this.#doomed.has(workflow),
    );
  }
}

const timeless = (state: ExecutionState | undefined) =>
  state && { ...state, wait: state.wait && { ...state.wait, wakeAtMs: 0 } };

async function playAll(all: readonly ExecutionMove[]): Promise<string[]> {
  const place = { accountId: model.accountId, nodeCount: EXECUTION_NODES, workflowCount: WORKFLOWS };
  const world = await createExecutionWorld(model.test.db.sql, model.cutOff.sql, place);
  const history = new History(world, await world.read());
  try {
    for (const next of all) {
      await history.play(next);
      if (history.faults.length > 0) break;
    }
    if (history.faults.length === 0) await history.finish();
    return history.faults;
  } finally {
    await world.end();
  }
}

it('under any moves and cuts of nodes and users each execution ends once, and no completed step runs again', async () => {
  await fc.assert(
    fc.asyncProperty(executionMoves, async (all) => {
      expect(await playAll(all)).toEqual([]);
    }),
    { numRuns: modelHistories(5), endOnFailure: true },
  );
}, 3_600_000);
