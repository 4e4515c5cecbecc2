import type { EmittedEvent, ErrorCode, HttpResponse, LogLine } from '@headwater/shared';
import type { DataStoreCall, FetchRequest, FlowAction, RunFault, SendCall } from '../sandbox.ts';
import { type Frame, FrameError, type FramePart, type FrameWriter } from './frames.ts';
import { MAX_FAULT_CHARS } from './head-bounds.ts';
import { readLogHead, writeLogHead } from './log-head.ts';
import { readDataStoreCall, readEmitMeta, readFetchHead, readOutcomeHead, readResponseHead } from './read-heads.ts';
import { readCutNames, readExportName, readFlow, readSendKind } from './read-step-heads.ts';

/** Faults that a sandbox process may report; any other code from it is a protocol violation. */
const SANDBOX_FAULTS = [
  'COMPONENT_ERROR',
  'CONFIGURATION_ERROR',
  'CPU_LIMIT',
  'WALL_LIMIT',
  'MEMORY_LIMIT',
  'OUTPUT_LIMIT',
  'RESOURCE_LIMIT',
] as const satisfies readonly ErrorCode[];
export type SandboxFault = (typeof SANDBOX_FAULTS)[number];

export type ReportedOutcome =
  | { ok: true; cpuMs: number; wallMs: number; result?: string }
  | { ok: false; fault: RunFault & { code: SandboxFault }; innocent: boolean; cpuMs: number; wallMs: number };

/**
 * What a sandbox process tells the engine's side. The process may be in an attacker's hands:
 * everything below is checked in type and size when it is read, and counted per run by its reader.
 */
export type FromSandbox =
  /** With the snapshot, where the process had to make it. */
  | { kind: 'ready'; snapshot: Uint8Array | undefined }
  | { kind: 'emit'; run: number; event: EmittedEvent }
  | { kind: 'log'; run: number; line: LogLine }
  | { kind: 'respond'; run: number; response: HttpResponse }
  | { kind: 'db-set'; run: number; key: string; valueJson: string }
  | { kind: 'db-get'; run: number; call: number; key: string }
  | { kind: 'fetch'; run: number; call: number; request: FetchRequest }
  | { kind: 'fetch-abort'; run: number; call: number }
  | { kind: 'data-store'; run: number; call: number; asked: DataStoreCall }
  | { kind: 'step-export'; run: number; name: string; valueJson: string }
  | { kind: 'step-send'; run: number; call: SendCall }
  | { kind: 'step-flow'; run: number; action: FlowAction }
  | { kind: 'step-respond'; run: number; response: HttpResponse; immediate: boolean }
  | { kind: 'step-props'; run: number; propsJson: string; cutJson: string }
  | { kind: 'outcome'; run: number; outcome: ReportedOutcome }
  | { kind: 'described'; run: number; outline: string }
  | { kind: 'pong' }
  /** One of its isolates can no longer be stopped from inside: end the process. */
  | { kind: 'condemned' };

const KIND = {
  ready: 1,
  emit: 2,
  log: 3,
  respond: 4,
  dbSet: 5,
  dbGet: 6,
  fetch: 7,
  fetchAbort: 8,
  outcome: 9,
  described: 10,
  pong: 11,
  condemned: 12,
  dataStore: 13,
  stepExport: 14,
  stepSend: 15,
  stepFlow: 16,
  stepRespond: 17,
  stepProps: 18,
} as const;

/**
 * The heads (`meta`, `head`) come from the guest as JSON text and are passed on unread: the
 * receiver checks them.
 */
export class SandboxReporter {
  readonly #writer: FrameWriter;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  ready(snapshot: Uint8Array | undefined): void {
    this.#writer.send(KIND.ready, 0, snapshot === undefined ? [] : [snapshot]);
  }

  emit(run: number, data: string, meta: string): void {
    this.#writer.send(KIND.emit, run, [data, meta]);
  }

  log(run: number, { level, atMs, limit, message }: LogLine): void {
    this.#writer.send(KIND.log, run, [writeLogHead(level, atMs, limit), message]);
  }

  respond(run: number, head: string, body: FramePart): void {
    this.#writer.send(KIND.respond, run, [head, body]);
  }

  dbSet(run: number, key: string, valueJson: string): void {
    this.#writer.send(KIND.dbSet, run, [key, valueJson]);
  }

  dbGet(run: number, call: number, key: string): void {
    this.#writer.send(KIND.dbGet, run, [String(call), key]);
  }

  fetch(run: number, call: number, head: string, body: FramePart | undefined): void {
    this.#writer.send(KIND.fetch, run, body === undefined ? [String(call), head] : [String(call), head, body]);
  }

  fetchAbort(run: number, call: number): void {
    this.#writer.send(KIND.fetchAbort, run, [String(call)]);
  }

  dataStore(run: number, call: number, head: string, valueJson: string | undefined): void {
    const parts = [String(call), head];
    this.#writer.send(KIND.dataStore, run, valueJson === undefined ? parts : [...parts, valueJson]);
  }

  stepExport(run: number, name: string, valueJson: string): void {
    this.#writer.send(KIND.stepExport, run, [name, valueJson]);
  }

  stepSend(run: number, kind: string, payload: string): void {
    this.#writer.send(KIND.stepSend, run, [kind, payload]);
  }

  stepFlow(run: number, head: string, contextJson: string | undefined): void {
    this.#writer.send(KIND.stepFlow, run, contextJson === undefined ? [head] : [head, contextJson]);
  }

  stepRespond(run: number, head: string, body: FramePart, immediate: boolean): void {
    this.#writer.send(KIND.stepRespond, run, [head, body, immediate ? 'now' : '']);
  }

  stepProps(run: number, propsJson: string, cutJson: string): void {
    this.#writer.send(KIND.stepProps, run, [propsJson, cutJson]);
  }

  outcome(run: number, outcome: ReportedOutcome): void {
    const { cpuMs, wallMs } = outcome;
    if (outcome.ok) {
      const head = JSON.stringify([cpuMs, wallMs]);
      return this.#writer.send(KIND.outcome, run, outcome.result === undefined ? [head] : [head, outcome.result]);
    }
    const { fault, innocent } = outcome;
    const { name, value, used } = fault.limit ?? {};
    const head = JSON.stringify([cpuMs, wallMs, fault.code, innocent, name, value, used]);
    this.#writer.send(KIND.outcome, run, [head, fault.message, fault.stack ?? '', fault.details ?? '']);
  }

  described(run: number, outline: string): void {
    this.#writer.send(KIND.described, run, [outline]);
  }

  pong(): void {
    this.#writer.send(KIND.pong, 0);
  }

  condemned(): void {
    this.#writer.send(KIND.condemned, 0);
  }
}

/** Throws FrameError for anything that SandboxReporter would not have sent. */
export function readFromSandbox(frame: Frame): FromSandbox {
  const { run } = frame;
  switch (frame.kind) {
    case KIND.ready:
      return { kind: 'ready', snapshot: frame.parts[0] };
    case KIND.emit:
      return { kind: 'emit', run, event: { data: json(frame, 0), ...readEmitMeta(text(frame, 1)) } };
    case KIND.log:
      return { kind: 'log', run, line: readLogLine(text(frame, 0), text(frame, 1)) };
    case KIND.respond:
      return { kind: 'respond', run, response: readResponse(frame) };
    case KIND.dbSet:
      return { kind: 'db-set', run, key: text(frame, 0), valueJson: json(frame, 1) };
    case KIND.dbGet:
      return { kind: 'db-get', run, call: count(frame, 0), key: text(frame, 1) };
    case KIND.fetch:
      return { kind: 'fetch', run, call: count(frame, 0), request: readFetchRequest(frame) };
    case KIND.fetchAbort:
      return { kind: 'fetch-abort', run, call: count(frame, 0) };
    case KIND.dataStore:
      return { kind: 'data-store', run, call: count(frame, 0), asked: readStoreCall(frame) };
    case KIND.stepExport:
      return { kind: 'step-export', run, name: readExportName(text(frame, 0)), valueJson: text(frame, 1) };
    case KIND.stepSend:
      return { kind: 'step-send', run, call: { kind: readSendKind(text(frame, 0)), payload: text(frame, 1) } };
    case KIND.stepFlow:
      return { kind: 'step-flow', run, action: readFlow(text(frame, 0), frame.parts[1]?.toString('utf8')) };
    case KIND.stepRespond:
      return { kind: 'step-respond', run, response: readResponse(frame), immediate: text(frame, 2) === 'now' };
    case KIND.stepProps:
      return { kind: 'step-props', run, propsJson: text(frame, 0), cutJson: readCutNames(text(frame, 1)) };
    case KIND.outcome:
      return { kind: 'outcome', run, outcome: readOutcome(frame) };
    case KIND.described:
      return { kind: 'described', run, outline: text(frame, 0) };
    case KIND.pong:
      return { kind: 'pong' };
    case KIND.condemned:
      return { kind: 'condemned' };
    default:
      throw new FrameError(`Unknown message ${frame.kind}`);
  }
}

function readLogLine(given: string, message: string): LogLine {
  const head = readLogHead(given);
  if (head === undefined) throw new FrameError('A log line with a head that is none');
  return { ...head, message };
}

function readResponse(frame: Frame): HttpResponse {
  return { ...readResponseHead(text(frame, 0)), body: bytes(frame, 1) };
}

function readFetchRequest(frame: Frame): FetchRequest {
  const head = readFetchHead(text(frame, 1));
  return frame.parts.length > 2 ? { ...head, body: bytes(frame, 2) } : head;
}

function readStoreCall(frame: Frame): DataStoreCall {
  const head = readDataStoreCall(text(frame, 1));
  return frame.parts.length > 2 ? { ...head, valueJson: text(frame, 2) } : head;
}

function readOutcome(frame: Frame): ReportedOutcome {
  const head = readOutcomeHead(text(frame, 0), SANDBOX_FAULTS);
  const { cpuMs, wallMs } = head;
  if (head.code === undefined)
    return frame.parts.length > 1 ? { ok: true, cpuMs, wallMs, result: text(frame, 1) } : { ok: true, cpuMs, wallMs };
  const fault: RunFault & { code: SandboxFault } = { code: head.code, message: text(frame, 1) };
  const [stack, details] = [text(frame, 2), frame.parts.length > 3 ? text(frame, 3) : ''];
  if ([fault.message, stack, details].some(({ length }) => length > MAX_FAULT_CHARS))
    throw new FrameError('A fault over its limit');
  if (stack !== '') fault.stack = stack;
  if (details !== '') fault.details = details;
  if (head.limit !== undefined) fault.limit = head.limit;
  return { ok: false, fault, innocent: head.innocent, cpuMs, wallMs };
}

/**
 * JSON has no NUL, and the database takes none: what has one would be tried to be stored again and
 * again.
 */
function json(frame: Frame, index: number): string {
  const found = part(frame, index);
  if (found.includes(0)) throw new FrameError('JSON with a NUL character');
  return found.toString('utf8');
}

function text(frame: Frame, index: number): string {
  return part(frame, index).toString('utf8');
}

// A copy: the frame is a view of a large chunk, which a receiver that keeps a small body would hold
// in memory.
function bytes(frame: Frame, index: number): Uint8Array {
  return new Uint8Array(part(frame, index));
}

function count(frame: Frame, index: number): number {
  const value = Number(text(frame, index));
  if (!Number.isSafeInteger(value) || value < 0) throw new FrameError('A call number that is none');
  return value;
}

function part(frame: Frame, index: number): Buffer {
  const found = frame.parts[index];
  if (found === undefined) throw new FrameError(`Message ${frame.kind} lacks part ${index}`);
  return found;
}
