import { type FieldError, findTooMany, LIMITS } from '@headwater/shared';
import type { RunEntry } from '../sandbox.ts';
import { depthOf } from './depth-of.ts';
import { judgeProps } from './judge-props.ts';

/** As deep as the API takes values itself. */
const MAX_DEPTH = 32;
/** Names of props are in it, and as long as the component makes them. */
const MAX_MESSAGE_CHARS = 4_096;

/** Before it is parsed: a megabyte of `[],` takes the node's thread a quarter of a second, one of options with labels some milliseconds. */
const BOUNDS = { values: 150_000, lists: 40_000, names: 5_000 };

export type JudgedAnswer = { ok: true; result: string } | { ok: false; message: string };

/**
 * Judges what an entry answers, before anything of the node reads it: it comes from the sandbox. Entries without an answer have
 * none to judge, and what a step returns is judged with the rest that it puts out: undefined.
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
  }
}

function judgeOptions(name: string, answer: Record<string, unknown> | undefined): JudgedAnswer {
  const options = answer?.['options'];
  if (answer === undefined || !Array.isArray(options) || !options.every(isOption))
    return { ok: false, message: `The options of '${name}' could not be read` };
  const { context } = answer;
  if (depthOf(options, MAX_DEPTH) > MAX_DEPTH || depthOf(context, MAX_DEPTH) > MAX_DEPTH)
    return { ok: false, message: `The options of '${name}' are nested too deeply` };
  const kept = options.map(({ label, value }) => ({ label, value }));
  return { ok: true, result: JSON.stringify({ options: kept, ...(context === undefined ? {} : { context }) }) };
}

function isOption(option: unknown): option is { label: string; value: unknown } {
  if (typeof option !== 'object' || option === null) return false;
  const { label, value } = option as Record<string, unknown>;
  return typeof label === 'string' && value !== undefined;
}

function judgeDefinitions(answer: Record<string, unknown> | undefined): JudgedAnswer {
  if (answer === undefined) return { ok: false, message: 'What additionalProps answers could not be read' };
  const errors: FieldError[] = [];
  const definitions = judgeProps(answer['props'], errors);
  if (errors.length === 0) return { ok: true, result: JSON.stringify(definitions) };
  const shown = errors.map(({ path, message }) => `${path} ${message}`).join('; ');
  const message = `additionalProps answers props that cannot be used: ${shown}`;
  return { ok: false, message: message.slice(0, MAX_MESSAGE_CHARS) };
}

function readObject(text: string | undefined, maxBytes: number): Record<string, unknown> | undefined {
  if (text === undefined || Buffer.byteLength(text) > maxBytes || findTooMany(text, BOUNDS) !== undefined)
    return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // It comes from the sandbox: no JSON is as good as no answer.
    return undefined;
  }
}
