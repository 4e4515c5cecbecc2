import type { Duplex } from 'node:stream';
import type { AccountLimits, ReadPacer } from '@headwater/shared';
import { FrameError } from '../bridge/frames.ts';
import type { EntryLimits, FromSandbox, OpenFile, RunOrder, StartSettings, ToSandbox } from '../bridge/messages.ts';
import { MAX_SENT_MAP_CHARS } from '../bridge/source-map.ts';
import type { ComponentBundle, RunFault } from '../sandbox-types.ts';
import { BundleLedger } from './bundle-ledger.ts';
import { FrameChannel } from './frame-channel.ts';
import { Heartbeat } from './heartbeat.ts';
import { IdleWords } from './idle-words.ts';
import type { Launch } from '../confinement/confinement.ts';
import { BOOT_NICE } from '../confinement/cpu-priority.ts';
import type { GuestImage } from './kept-snapshot.ts';
import { LimitsLedger } from './limits-ledger.ts';
import { ReadDelays } from './read-delays.ts';
import type { Blame, ProcessClient } from './run-client.ts';
import { FIRST_FILE_FD } from '../starter/orders.ts';
import type { ProcessEnd, ProcessHandle, ProcessStarter } from '../starter/starter.ts';
import { outOfMemory, UsageWatch } from './usage-watch.ts';

/** Beyond its wall limit a run has this long to end by itself before its process is killed. */
const DEADLINE_GRACE_MS = 1_000;
/** Most are shorter. */
const LONG_TASK_MS = 40;
/** How often one is looked at that has served tasks and has none: it should use nothing. */
const IDLE_LOOK_MS = 1_000;
/** How long other runs of a process that is to be killed may go on. */
const CONDEMNED_MS = 2_000;

export interface ProcessOptions {
  settings: StartSettings;
  processCode: string;
  starter: ProcessStarter;
  /** How to start the next process. */
  launch(): Launch;
  guest: GuestImage;
  maxRssMb: number;
  /** Paces the reading of process output. Default: no pace. */
  pace?: ReadPacer;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>): void;
  /** A task ended: there may be room for another. */
  onFree(process: SandboxProcess): void;
  onExit(process: SandboxProcess): void;
}

interface Task {
  client: ProcessClient;
  startedAtMs: number;
  deadlineMs: number;
  /** Read pauses at the start of the task. */
  mark: number;
  over: boolean;
}

export type TaskOrder = Omit<RunOrder, 'run' | 'bundleHash'> | { kind: 'describe'; limits: EntryLimits };

/**
 * The node's side of a sandbox process. Every task ends here: by a message, its deadline, or the
 * end of the process. `readFromSandbox` checks each message before it is trusted.
 */
export class SandboxProcess {
  readonly ready: Promise<void>;
  readonly startedAtMs = performance.now();
  /** Set once, when the process is taken for a tenant. */
  tenantId: string | undefined;
  /** Serves the one task it was taken for and ends. */
  alone = false;
  /** Takes no more tasks and ends when its last one has. */
  draining = false;
  /**
   * Another is to take its place, when there may be one: it is full, or does not get its priority
   * back.
   */
  worn = false;
  idleSinceMs = performance.now();
  tasksServed = 0;
  exited = false;
  /** Its end was wanted: idle, recycled, used up or stopped. */
  expected = false;

  readonly #options: ProcessOptions;
  readonly #launch: Launch;
  readonly #guest: string | OpenFile;
  readonly #handle: ProcessHandle;
  readonly #whenExited = Promise.withResolvers<void>();
  readonly #whenReady = Promise.withResolvers<void>();
  #pid: number | undefined;
  #usage: UsageWatch | undefined;
  #channel: FrameChannel | undefined;
  readonly #tasks = new Map<number, Task>();
  readonly #bundles = new BundleLedger();
  readonly #limits = new LimitsLedger();
  #nextRun = 1;
  #inFlight = 0;
  #isReady = false;
  readonly #rests = new ReadDelays();
  readonly #heartbeat = new Heartbeat(this.#rests);
  readonly #idleWords = new IdleWords();
  #killAtMs = Number.POSITIVE_INFINITY;
  #lookedAtMs = 0;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#launch = options.launch();
    this.ready = this.#whenReady.promise;
    const { program, args } = this.#launch;
    const { code, snapshot } = options.guest;
    const files = snapshot === undefined ? this.#launch.files : [...this.#launch.files, snapshot.path];
    this.#guest =
      snapshot === undefined ? code : { fd: FIRST_FILE_FD + this.#launch.files.length, bytes: snapshot.bytes };
    this.#handle = options.starter.start(
      { program, args, files, environment: {}, script: options.processCode, sessionNice: BOOT_NICE },
      {
        started: (pid, pipe) => void this.#started(pid, pipe),
        notKilled: (pid, error) =>
          options.log('error', 'A sandbox process could not be killed and lives on', { pid, error }),
        ended: (end) => this.#exit(end),
      },
    );
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Limits of the account, for runs that are started from now on. */
  setLimits(account: AccountLimits): void {
    const limits = this.#limits.take(account);
    if (limits !== undefined) this.#send({ kind: 'limits', limits });
  }

  /** Answers its number. */
  start(order: TaskOrder, bundle: ComponentBundle, wallMs: number, client: ProcessClient): number {
    const run = this.#nextRun++;
    const { hash: bundleHash, code, sourceMap } = bundle;
    const map = sourceMap.length > MAX_SENT_MAP_CHARS ? '' : sourceMap;
    const dropped = this.#bundles.take(bundleHash, code.length + map.length);
    for (const hash of dropped) this.#send({ kind: 'drop-bundle', hash });
    if (this.#bundles.isNew) this.#send({ kind: 'bundle', hash: bundleHash, code, map });
    const startedAtMs = performance.now();
    const deadlineMs = startedAtMs + wallMs + DEADLINE_GRACE_MS;
    this.#tasks.set(run, { client, startedAtMs, deadlineMs, mark: this.#rests.mark(), over: false });
    this.#inFlight += 1;
    this.tasksServed += 1;
    this.#idleWords.taskBegan();
    this.#send({ ...order, run, bundleHash });
    return run;
  }

  /** The task's client was already told; the process stops its work for the task. */
  cancel(run: number): void {
    if (this.#tasks.get(run)?.over === false) this.#send({ kind: 'cancel', run });
  }

  /** It computes for long, and has less priority for it. */
  get isHot(): boolean {
    return this.#usage?.isHot === true;
  }

  /** Gives it less priority from the start, as its tenant's others have computed for long. */
  expectHot(): void {
    this.#usage?.expectHot(performance.now());
  }

  /** Called 20 times a second. Reads the usage only if a task runs longer than most do. */
  glance(nowMs: number): void {
    if (this.exited || this.isHot) return;
    for (const task of this.#tasks.values()) {
      if (task.over) continue;
      if (nowMs - task.startedAtMs > LONG_TASK_MS) this.#look(nowMs);
      // The oldest comes first.
      return;
    }
  }

  /** Called a few times a second: deadlines, heartbeat, memory. */
  check(nowMs: number): void {
    if (this.exited) return;
    if (nowMs >= this.#killAtMs)
      return this.kill({ code: 'SANDBOX_CRASHED', message: 'The sandbox process was ended' }, this.#blame('suspect'));
    const isLate = (task: Task): boolean => !task.over && nowMs > task.deadlineMs + this.#rests.creditMs(task.mark);
    if ([...this.#tasks.values()].some(isLate)) {
      return this.#killLate(isLate);
    }
    if (this.#channel !== undefined && this.#heartbeat.isDue(nowMs, this.#inFlight > 0)) this.#beat(nowMs);
    // Memory can grow by more than a gigabyte in a second.
    const isIdleLookDue = this.tasksServed > 0 && nowMs - this.#lookedAtMs >= IDLE_LOOK_MS;
    if (this.#inFlight > 0 || this.isHot || isIdleLookDue) this.#look(nowMs);
    if (this.#heartbeat.isLost(nowMs, this.isHot)) {
      this.kill({ code: 'SANDBOX_CRASHED', message: 'The sandbox process stopped answering' }, this.#blame('suspect'));
    }
  }

  /** Kills the process group. Tasks in flight end with the fault. */
  kill(fault: RunFault, blame: Blame): void {
    if (!this.exited) this.#handle.kill();
    this.draining = true;
    if (this.#inFlight > 1) {
      const { code, message: reason } = fault;
      this.#options.log('warn', 'A sandbox process was killed', { pid: this.pid, code, reason, lost: this.#inFlight });
    }
    this.#loseAll(fault, blame);
  }

  /** Others of the account ran in it: theirs was no limit. */
  #killLate(isLate: (task: Task) => boolean): void {
    const others: RunFault = { code: 'SANDBOX_CRASHED', message: 'Another run of this account had to be killed' };
    for (const task of this.#tasks.values()) if (!isLate(task)) task.client.lose(others, 'nobody');
    this.kill({ code: 'WALL_LIMIT', message: 'The run did not end at its limit and was killed' }, 'run');
  }

  /** Ends a process that has nothing left to do. */
  end(): void {
    this.expected = true;
    this.kill({ code: 'SANDBOX_CRASHED', message: 'The sandbox process was ended' }, 'nobody');
  }

  async whenExited(): Promise<void> {
    await this.#whenExited.promise;
  }

  /**
   * A process that has served others may be broken by one of them: only the first and only task of
   * one is to blame.
   */
  #blame(ofOne: Blame): Blame {
    return this.tasksServed > 1 ? 'nobody' : ofOne;
  }

  async #started(pid: number, pipe: Duplex): Promise<void> {
    this.#pid = pid;
    this.#usage = new UsageWatch(pid, this.#options.maxRssMb, this.#options.starter, this.#launch.rights);
    const channel = this.#openChannel(pipe);
    await this.#launch.started(pid);
    this.#channel = channel;
    this.#send({ kind: 'start', settings: this.#options.settings, guest: this.#guest });
  }

  #openChannel(pipe: Duplex): FrameChannel {
    const end = (message: string, blame: Blame): void =>
      this.kill({ code: 'SANDBOX_CRASHED', message }, this.#blame(blame));
    return new FrameChannel(pipe, {
      message: (message) => this.#receive(message),
      broken: (reason) => {
        // A tenant's doing: nothing of the node's is wrong.
        this.#options.log('warn', 'A sandbox process broke the protocol and was killed', { pid: this.pid, reason });
        end('The sandbox process was ended', 'run');
      },
      stuck: () => end('The sandbox process stopped reading', 'suspect'),
      restMs: (bytes) => this.#restMs(bytes),
    });
  }

  #restMs(bytes: number): number {
    if (this.tenantId === undefined) return 0;
    const ms = this.#options.pace?.waitMs(this.tenantId, bytes) ?? 0;
    this.#rests.add(ms);
    return ms;
  }

  #exit({ code, signal, stderr }: ProcessEnd): void {
    this.exited = true;
    const lost = this.#inFlight;
    const { maxRssMb } = this.#options;
    if (this.#launch.ranOutOfMemory()) this.#loseAll(outOfMemory(maxRssMb, maxRssMb), this.#blame('run'));
    const fault: RunFault = { code: 'SANDBOX_CRASHED', message: 'The sandbox process of the run ended unexpectedly' };
    this.#loseAll(fault, this.#blame('suspect'));
    this.#launch.ended();
    if (lost > 0 || stderr !== '') {
      this.#options.log('warn', 'A sandbox process ended', { pid: this.pid, code, signal, lost, stderr });
    }
    // It may be what keeps processes from booting: the next one makes another.
    if (!this.#isReady) this.#options.guest.snapshot = undefined;
    this.#whenReady.reject(new Error(`A sandbox process ended before it was ready (${signal ?? code}): ${stderr}`));
    this.#options.onExit(this);
    this.#whenExited.resolve();
  }

  #receive(message: FromSandbox): void {
    switch (message.kind) {
      case 'ready':
        // Allowed once: each `ready` would set priorities again, which starts a program.
        if (this.#isReady) throw new FrameError('A process that becomes ready again');
        this.#isReady = true;
        if (message.snapshot !== undefined) void this.#keepSnapshot(message.snapshot);
        this.#usage?.booted();
        this.#heartbeat.began();
        return this.#whenReady.resolve();
      case 'pong':
        if (!this.#heartbeat.answered()) throw new FrameError('An answer to a heartbeat that was not sent');
        return;
      case 'condemned':
        return this.#condemn();
      default: {
        const task = this.#tasks.get(message.run);
        // A task that was ended from this side may still have had something to say.
        if (task === undefined) return this.#idleWords.heard(message.kind, false);
        // Said once more, it would explain processor time that no run has used.
        if (message.kind === 'outcome' && !task.over) this.#usage?.runEnded(message.outcome.cpuMs);
        this.#deliver(task, message.run, message);
        if (message.kind === 'outcome' || message.kind === 'described') this.#finish(message.run, task);
        else this.#forget(message.run, task);
      }
    }
  }

  #deliver(task: Task, run: number, message: FromSandbox): void {
    const done = (): void => this.#forget(run, task);
    try {
      const hadEffect = task.client.receive(message, (answer) => this.#send(answer), done);
      this.#idleWords.heard(message.kind, hadEffect);
    } catch (error) {
      if (error instanceof FrameError) throw error;
      // A host that throws is a defect on our side; it must not take this node down, nor be blamed
      // on the component.
      this.#options.log('error', 'A run could not be recorded', { error: String(error) });
      task.client.lose({ code: 'INTERNAL', message: 'The run could not be recorded' }, 'nobody');
    }
  }

  /** Only of a process that has seen no component: later it may be in an attacker's hands. */
  async #keepSnapshot(snapshot: Uint8Array): Promise<void> {
    const { guest, starter, log } = this.#options;
    if (guest.snapshot !== undefined || this.tasksServed > 0) return;
    try {
      const path = await starter.keepFile(`guest-${this.#pid}`, snapshot);
      guest.snapshot ??= { path, bytes: snapshot.length };
      await guest.keep?.(snapshot);
    } catch (error) {
      // During a stop, no part is left to keep it.
      if (!this.expected)
        log('warn', 'The snapshot of the guest cannot be kept: each process makes one', { error: String(error) });
    }
  }

  #finish(run: number, task: Task): void {
    if (task.over) return;
    task.over = true;
    this.#inFlight -= 1;
    this.#forget(run, task);
    if (this.#inFlight === 0) {
      this.idleSinceMs = performance.now();
      if (this.alone || this.draining) this.end();
    }
    this.#options.onFree(this);
  }

  /** Forgets a task after its last request, because it holds all output of the run. */
  #forget(run: number, task: Task): void {
    if (task.over && task.client.settled) this.#tasks.delete(run);
  }

  // Runs in other isolates of the process get a moment to end well.
  #condemn(): void {
    this.draining = true;
    this.#killAtMs = Math.min(this.#killAtMs, performance.now() + (this.#inFlight === 0 ? 0 : CONDEMNED_MS));
    if (this.#inFlight === 0) this.check(performance.now());
  }

  #loseAll(fault: RunFault, blame: Blame): void {
    for (const task of this.#tasks.values()) task.client.lose(fault, blame);
    this.#tasks.clear();
    this.#inFlight = 0;
  }

  #beat(nowMs: number): void {
    this.#heartbeat.asked(nowMs);
    this.#send({ kind: 'ping' });
    this.#look(nowMs);
  }

  #look(nowMs: number): void {
    // A heartbeat may have been due just now.
    if (nowMs === this.#lookedAtMs) return;
    this.#lookedAtMs = nowMs;
    const verdict = this.#usage?.look(nowMs, this);
    if (verdict === undefined || verdict.kind === 'fine' || this.exited) return;
    if (verdict.kind === 'end-full')
      this.kill(outOfMemory(this.#options.maxRssMb, Math.ceil(verdict.memoryMb)), this.#blame('run'));
    if (verdict.kind === 'end-idle') {
      this.#options.log('warn', 'A sandbox process computed without a run and was killed', { pid: this.pid });
      this.kill({ code: 'SANDBOX_CRASHED', message: 'The sandbox process was ended' }, 'nobody');
    }
    this.worn = true;
  }

  #send(message: ToSandbox): void {
    if (!this.exited) this.#channel?.send(message);
  }
}
