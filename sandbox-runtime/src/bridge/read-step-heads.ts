import { LIMITS } from '@headwater/shared';
import type { FlowAction, SendCall } from '../sandbox-types.ts';
import { FrameError } from './frames.ts';
import { RESERVED_EXPORTS } from './head-bounds.ts';
import { readHeadMembers, string } from './read-heads.ts';

const SEND_KINDS: readonly SendCall['kind'][] = ['http', 'email', 's3', 'emit', 'sse'];

export function readExportName(name: string): string {
  if (name === '' || name.length > LIMITS.maxExportNameChars || RESERVED_EXPORTS.includes(name))
    throw new FrameError('An invalid name of an export');
  return name;
}

export function readSendKind(text: string): SendCall['kind'] {
  const kind = SEND_KINDS.find((known) => known === text);
  if (kind === undefined) throw new FrameError('An unknown kind of send');
  return kind;
}

/** `contextJson`: of `rerun`. */
export function readFlow(json: string, contextJson: string | undefined): FlowAction {
  const { kind, reason, ms, maxRetries } = readHeadMembers(json, ['kind', 'reason', 'ms', 'maxRetries']);
  switch (kind) {
    case 'exit':
      return reason === undefined ? { kind } : { kind, reason: readReason(reason) };
    case 'delay':
    case 'suspend':
      return { kind, ms: whole(ms, LIMITS.maxStepWaitMs, 'ms') };
    case 'rerun': {
      const action: FlowAction = {
        kind,
        ms: whole(ms, LIMITS.maxStepWaitMs, 'ms'),
        maxRetries: whole(maxRetries, LIMITS.maxStepReruns, 'maxRetries'),
      };
      if (contextJson !== undefined) action.context = contextJson;
      return action;
    }
    default:
      throw new FrameError('An unknown action of $.flow');
  }
}

/** Names of props that are cut, as JSON of an array. */
export function readCutNames(json: string): string {
  if (json.length > LIMITS.recordedPropsChars) throw new FrameError('Names of cut props over their limit');
  const names = parseList(json);
  if (names === undefined || !names.every((name) => typeof name === 'string'))
    throw new FrameError('Invalid names of cut props');
  return json;
}

function parseList(json: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readReason(reason: unknown): string {
  const text = string(reason, 'reason');
  if (text.length > LIMITS.maxSummaryChars) throw new FrameError('A reason over its limit');
  return text;
}

function whole(value: unknown, max: number, what: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw new FrameError(`${what} is out of its bounds`);
  return value;
}
