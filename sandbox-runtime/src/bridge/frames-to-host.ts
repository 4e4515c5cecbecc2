import type { HttpResponse, LogLine } from '@headwater/shared';
import type { DataStoreCall, FetchRequest, RunFault } from '../sandbox-types.ts';
import { type Frame, FrameError, type FramePart, type FrameWriter } from './frames.ts';
import { MAX_FAULT_CHARS } from './head-bounds.ts';
import { readLogHead, writeLogHead } from './log-head.ts';
import { type FromSandbox, type ReportedOutcome, SANDBOX_FAULTS, type SandboxFault, type ToHost } from './messages.ts';
import { readDataStoreCall, readEmitMeta, readFetchHead, readOutcomeHead, readResponseHead } from './read-heads.ts';
import { readCutNames, readExportName, readFlow, readSendKind } from './read-step-heads.ts';

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

/** Writes heads of relayed messages as JSON text; the reader checks them. */
export function sendToHost(writer: FrameWriter, message: ToHost): void {
  switch (message.kind) {
    case 'ready':
      return writer.send(KIND.ready, 0, message.snapshot === undefined ? [] : [message.snapshot]);
    case 'emit':
      return writer.send(KIND.emit, message.run, [message.event, message.meta]);
    case 'log': {
      const { level, atMs, limit } = message.line;
      return writer.send(KIND.log, message.run, [writeLogHead(level, atMs, limit), message.line.message]);
    }
    case 'respond':
      return writer.send(KIND.respond, message.run, [message.head, message.body]);
    case 'db-set':
      return writer.send(KIND.dbSet, message.run, [message.key, message.value]);
    case 'db-get':
      return writer.send(KIND.dbGet, message.run, [String(message.call), message.key]);
    case 'fetch':
      return writer.send(KIND.fetch, message.run, parts(String(message.call), message.head, message.body));
    case 'fetch-abort':
      return writer.send(KIND.fetchAbort, message.run, [String(message.call)]);
    case 'data-store':
      return writer.send(KIND.dataStore, message.run, parts(String(message.call), message.head, message.value));
    case 'step-export':
      return writer.send(KIND.stepExport, message.run, [message.name, message.value]);
    case 'step-send':
      return writer.send(KIND.stepSend, message.run, [message.means, message.payload]);
    case 'step-flow':
      return writer.send(KIND.stepFlow, message.run, parts(message.action, message.context));
    case 'step-respond':
      return writer.send(KIND.stepRespond, message.run, [message.head, message.body, message.immediate ? 'now' : '']);
    case 'step-props':
      return writer.send(KIND.stepProps, message.run, [message.props, message.cut]);
    case 'outcome':
      return writer.send(KIND.outcome, message.run, outcomeParts(message.outcome));
    case 'described':
      return writer.send(KIND.described, message.run, [message.outline]);
    case 'pong':
      return writer.send(KIND.pong, 0);
    case 'condemned':
      return writer.send(KIND.condemned, 0);
  }
}

/** Leaves out the last part if it is undefined. */
function parts(...given: [...FramePart[], FramePart | undefined]): FramePart[] {
  if (given.at(-1) === undefined) given.pop();
  return given as FramePart[];
}

function outcomeParts(outcome: ReportedOutcome): FramePart[] {
  const { cpuMs, wallMs } = outcome;
  if (outcome.ok) return parts(JSON.stringify([cpuMs, wallMs]), outcome.result);
  const { fault, innocent } = outcome;
  const { name, value, used } = fault.limit ?? {};
  const head = JSON.stringify([cpuMs, wallMs, fault.code, innocent, name, value, used]);
  return [head, fault.message, fault.stack ?? '', fault.details ?? ''];
}

/** Throws FrameError for anything that `sendToHost` would not have sent. */
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
  if (head === undefined) throw new FrameError('A log line with an invalid head');
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
  if (!Number.isSafeInteger(value) || value < 0) throw new FrameError('An invalid call number');
  return value;
}

function part(frame: Frame, index: number): Buffer {
  const found = frame.parts[index];
  if (found === undefined) throw new FrameError(`Message ${frame.kind} lacks part ${index}`);
  return found;
}
