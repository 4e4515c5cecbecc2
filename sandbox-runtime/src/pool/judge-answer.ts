import {
  type ExceededLimit,
  type FieldError,
  findTooManyOfOutline,
  firstLimit,
  LIMITS,
  platformLimit,
} from '@headwater/shared';
import type { RunEntry } from '../sandbox-types.ts';
import { readTransformAnswer } from '../bridge/transform-answer.ts';
import { depthOf } from './depth-of.ts';
import { judgeProps } from './judge-props.ts';

/** Names of props are in it, and as long as the component makes them. */
const MAX_MESSAGE_CHARS = 4_096;

export type JudgedAnswer = { ok: true; result: string } | { ok: false; message: string; limit?: ExceededLimit };

type Read = { answer?: Record<string, unknown>; limit?: ExceededLimit };

/**
 * Validates the answer of an entry before the node uses it, because it comes from the sandbox.
 * Undefined for entries without an answer, and for steps, whose return value is validated with
 * their other output.
 */
export function judgeAnswer(entry: RunEntry, text: string | undefined): JudgedAnswer | undefined {
  switch (entry.kind) {
    case 'run':
    case 'hook':
    case 'step':
      return undefined;
    case 'options':
      return judgeOptions(entry.prop, readObject(text, LIMITS.maxPropOptionsBytes));
    case 'additional-props':
      return judgeDefinitions(readObject(text, LIMITS.maxDynamicPropsBytes));
    case 'transform':
      return judgeTransform(text);
  }
}

function judgeOptions(name: string, { answer, limit }: Read): JudgedAnswer {
  const options = answer?.['options'];
  if (answer === undefined || !Array.isArray(options) || !options.every(isOption))
    return refuse(`The options of '${name}' could not be read`, limit);
  const { context } = answer;
  const { maxPropOptionsDepth: most } = LIMITS;
  const depth = Math.max(depthOf(options, most), depthOf(context, most));
  if (depth > most)
    return refuse(`The options of '${name}' are nested too deeply`, platformLimit('maxPropOptionsDepth', depth));
  const kept = options.map(({ label, value }) => ({ label, value }));
  return { ok: true, result: JSON.stringify({ options: kept, ...(context === undefined ? {} : { context }) }) };
}

function judgeTransform(text: string | undefined): JudgedAnswer {
  const isRead = text !== undefined && readTransformAnswer(text) !== undefined;
  return isRead ? { ok: true, result: text } : refuse('The result of the transform could not be read', undefined);
}

function isOption(option: unknown): option is { label: string; value: unknown } {
  if (typeof option !== 'object' || option === null) return false;
  const { label, value } = option as Record<string, unknown>;
  return typeof label === 'string' && value !== undefined;
}

function judgeDefinitions({ answer, limit }: Read): JudgedAnswer {
  if (answer === undefined) return refuse('The answer of additionalProps could not be read', limit);
  const errors: FieldError[] = [];
  const definitions = judgeProps(answer['props'], errors);
  if (errors.length === 0) return { ok: true, result: JSON.stringify(definitions) };
  const shown = errors.map(({ path, message }) => `${path} ${message}`).join('; ');
  const message = `additionalProps answers props that cannot be used: ${shown}`;
  return refuse(message.slice(0, MAX_MESSAGE_CHARS), firstLimit(errors));
}

function refuse(message: string, limit: ExceededLimit | undefined): JudgedAnswer {
  if (limit === undefined) return { ok: false, message };
  const { name, value, used } = limit;
  return { ok: false, message: `${message}: ${used} is more than the limit ${name}, which is ${value}`, limit };
}

function readObject(text: string | undefined, maxBytes: number): Read {
  if (text === undefined || Buffer.byteLength(text) > maxBytes) return {};
  // Before it is parsed, which takes the node's thread.
  const limit = findTooManyOfOutline(text)?.limit;
  if (limit !== undefined) return { limit };
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? { answer: value as Record<string, unknown> } : {};
  } catch {
    // It comes from the sandbox: no JSON is as good as no answer.
    return {};
  }
}
