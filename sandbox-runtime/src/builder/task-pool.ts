import { type Task, type TaskEnd, TaskProcess, type TaskProcessOptions } from './task-process.ts';

export interface TaskPoolOptions {
  start(): Promise<TaskProcessOptions>;
  /** Tasks per process. Then a new process replaces it, without the state that has accumulated. */
  maxTasks: number;
  signal: AbortSignal;
}

export interface TaskPool {
  /** In a process that does nothing else meanwhile, and that has served no other tenant. */
  run<Answer>(tenantId: string, task: Task<Answer>): Promise<TaskEnd<Answer>>;
  stop(): void;
}

/**
 * A process is not used again after a longer task: memory that it still holds would count for the
 * next task.
 */
const LONG_TASK_MS = 1_000;
const IDLE_MS = 30_000;
const MAX_IDLE = 2;

/** Processes for tasks, as many as there are tasks at a time: callers see to how many those are. */
export function createTaskPool({ start, maxTasks, signal }: TaskPoolOptions): TaskPool {
  const all = new Set<TaskProcess>();
  /** With their tenant: a process that one tenant's code broke into must not bundle another's. */
  const idle = new Map<TaskProcess, { tenantId: string; timer: NodeJS.Timeout }>();

  function drop(process: TaskProcess): void {
    clearTimeout(idle.get(process)?.timer);
    idle.delete(process);
    all.delete(process);
    process.end();
  }

  async function take(tenantId: string): Promise<TaskProcess> {
    for (const [process, of] of idle) {
      if (process.ended) drop(process);
      else if (of.tenantId === tenantId) {
        clearTimeout(of.timer);
        idle.delete(process);
        return process;
      }
    }
    return begin();
  }

  async function begin(): Promise<TaskProcess> {
    const process = new TaskProcess(await start());
    all.add(process);
    return process;
  }

  function giveBack(tenantId: string, process: TaskProcess, tookMs: number): void {
    if (process.ended || process.tasksServed >= maxTasks || tookMs > LONG_TASK_MS || signal.aborted)
      return drop(process);
    const [longestIdle] = idle.keys();
    if (idle.size >= MAX_IDLE && longestIdle !== undefined) drop(longestIdle);
    idle.set(process, { tenantId, timer: setTimeout(() => drop(process), IDLE_MS) });
  }

  async function runOn<Answer>(process: TaskProcess, tenantId: string, task: Task<Answer>): Promise<TaskEnd<Answer>> {
    const startedAtMs = performance.now();
    const end = await process.run(task, signal);
    giveBack(tenantId, process, performance.now() - startedAtMs);
    return end;
  }

  return {
    async run(tenantId, task) {
      const process = await take(tenantId);
      const isFirst = process.tasksServed === 0;
      const end = await runOn(process, tenantId, task);
      if (end.kind === 'answered' || end.cause !== 'exit' || isFirst) return end;
      // Leftovers of an earlier task may have caused the exit. Alone in a new process, this task is
      // judged fairly.
      return runOn(await begin(), tenantId, task);
    },
    stop() {
      for (const process of all) drop(process);
    },
  };
}
