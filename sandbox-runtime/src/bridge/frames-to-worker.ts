import type { DedupeStrategy } from '@headwater/shared';
import type { DataStoreAnswer, FetchOutcome } from '../sandbox-types.ts';
import { type Frame, FrameError, type FrameWriter } from './frames.ts';
import type { EntryLimits, EntryName, OpenFile, RunOrder, StartSettings, ToSandbox } from './messages.ts';

const KIND = {
  start: 1,
  bundle: 2,
  dropBundle: 3,
  run: 4,
  describe: 5,
  dbValue: 6,
  fetched: 7,
  ping: 8,
  limits: 9,
  storeAnswer: 10,
  cancel: 11,
} as const;

type RunHead = [isolateKey: string, hash: string, entry: EntryName, dedupe: DedupeStrategy | null, limits: EntryLimits];

export function sendToSandbox(writer: FrameWriter, message: ToSandbox): void {
  switch (message.kind) {
    case 'start':
      return writer.send(KIND.start, 0, [JSON.stringify(message.settings), JSON.stringify(message.guest)]);
    case 'bundle':
      return writer.send(KIND.bundle, 0, [message.hash, message.code, message.map]);
    case 'drop-bundle':
      return writer.send(KIND.dropBundle, 0, [message.hash]);
    case 'limits':
      return writer.send(KIND.limits, 0, [message.limits]);
    case 'run': {
      const { isolateKey, bundleHash, entry, dedupe, limits } = message;
      const head: RunHead = [isolateKey, bundleHash, entry, dedupe ?? null, limits];
      return writer.send(KIND.run, message.run, [JSON.stringify(head), message.props, message.event]);
    }
    case 'describe':
      return writer.send(KIND.describe, message.run, [message.bundleHash, JSON.stringify(message.limits)]);
    case 'db-value':
      return writer.send(KIND.dbValue, message.run, [String(message.call), message.answer]);
    case 'fetched':
      return sendFetched(writer, message.run, message.call, message.outcome);
    case 'store-answer':
      return writer.send(KIND.storeAnswer, message.run, [String(message.call), JSON.stringify(message.answer)]);
    case 'cancel':
      return writer.send(KIND.cancel, message.run);
    case 'ping':
      return writer.send(KIND.ping, 0);
  }
}

function sendFetched(writer: FrameWriter, run: number, call: number, outcome: FetchOutcome): void {
  if (!outcome.ok) return writer.send(KIND.fetched, run, [String(call), JSON.stringify(outcome)]);
  const { body, ...head } = outcome;
  writer.send(KIND.fetched, run, [String(call), JSON.stringify(head), body]);
}

export function readToSandbox(frame: Frame): ToSandbox {
  const { run } = frame;
  switch (frame.kind) {
    case KIND.start:
      return {
        kind: 'start',
        settings: JSON.parse(text(frame, 0)) as StartSettings,
        guest: JSON.parse(text(frame, 1)) as string | OpenFile,
      };
    case KIND.bundle:
      return { kind: 'bundle', hash: text(frame, 0), code: text(frame, 1), map: text(frame, 2) };
    case KIND.dropBundle:
      return { kind: 'drop-bundle', hash: text(frame, 0) };
    case KIND.limits:
      return { kind: 'limits', limits: text(frame, 0) };
    case KIND.run: {
      const [isolateKey, bundleHash, entry, dedupe, limits] = JSON.parse(text(frame, 0)) as RunHead;
      const order: RunOrder = {
        kind: 'run',
        run,
        isolateKey,
        bundleHash,
        entry,
        limits,
        props: text(frame, 1),
        event: text(frame, 2),
      };
      if (dedupe !== null) order.dedupe = dedupe;
      return order;
    }
    case KIND.describe:
      return { kind: 'describe', run, bundleHash: text(frame, 0), limits: JSON.parse(text(frame, 1)) as EntryLimits };
    case KIND.dbValue:
      return { kind: 'db-value', run, call: Number(text(frame, 0)), answer: text(frame, 1) };
    case KIND.fetched:
      return { kind: 'fetched', run, call: Number(text(frame, 0)), outcome: readFetched(frame) };
    case KIND.storeAnswer: {
      const answer = JSON.parse(text(frame, 1)) as DataStoreAnswer;
      return { kind: 'store-answer', run, call: Number(text(frame, 0)), answer };
    }
    case KIND.cancel:
      return { kind: 'cancel', run };
    case KIND.ping:
      return { kind: 'ping' };
    default:
      throw new FrameError(`Unknown message ${frame.kind}`);
  }
}

function readFetched(frame: Frame): FetchOutcome {
  const head = JSON.parse(text(frame, 1)) as FetchOutcome;
  if (!head.ok) return head;
  // A copy, because passing a view into an isolate takes its whole buffer along.
  return { ...head, body: new Uint8Array(frame.parts[2] ?? []) };
}

function text(frame: Frame, index: number): string {
  const part = frame.parts[index];
  if (part === undefined) throw new FrameError(`Message ${frame.kind} lacks part ${index}`);
  return part.toString('utf8');
}
