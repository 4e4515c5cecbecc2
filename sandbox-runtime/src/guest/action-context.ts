import { RESERVED_EXPORTS } from '../bridge/head-bounds.ts';
import type { ReadStepInput } from '../bridge/step-input.ts';
import type { Bridge } from './bridge.ts';
import { type ResponseWay, sendResponse } from './http-prop.ts';
import { parseJson, sliceText, toText } from './intrinsics.ts';
import { toJson } from './json-value.ts';
import { limitError } from './limit-error.ts';
import { isObjectValue } from './resolve-prop.ts';
import type { RunContext, RunTracker } from './run-context.ts';
import { type GuestFlow, makeFlow } from './step-flow.ts';
import { type GuestSend, makeSend } from './step-send.ts';
import { utf8LengthUpTo } from './utf8.ts';

const SUMMARY = '$summary';

export interface ActionContextParts {
  bridge: Bridge;
  runs: RunTracker;
  warn(context: RunContext, message: string): void;
}

/**
 * `$`, as `run` of an action gets it. A plain object: packages of components keep things of their
 * own on it.
 */
export interface ActionContext {
  export(name: unknown, value: unknown): void;
  respond(response?: unknown): Promise<void>;
  flow: GuestFlow;
  send: GuestSend;
  context: unknown;
}

export function makeActionContext(
  { bridge, runs, warn }: ActionContextParts,
  context: RunContext,
  input: ReadStepInput,
): ActionContext {
  return {
    export(name, value) {
      exportValue(bridge, runs, context, name, value);
    },
    respond(response) {
      const isImmediate = isObjectValue(response) && response['immediate'] === true;
      const out: ResponseWay = {
        runs,
        warn(message) {
          warn(context, message);
        },
        post(head, body) {
          bridge.post({ kind: 'step-respond', run: context.run, head, body, immediate: isImmediate });
        },
        defaultStatus: 200,
      };
      return sendResponse(out, context, response);
    },
    flow: makeFlow({ runs, warn }, context, { resume_url: input.resumeUrl, cancel_url: input.cancelUrl }),
    send: makeSend({ bridge, runs, context, warn }),
    context: parseJson(input.context),
  };
}

/**
 * Exports at once, so that the value is kept if the step fails later. The last value of a name
 * counts. Undefined becomes null.
 */
function exportValue(bridge: Bridge, runs: RunTracker, context: RunContext, name: unknown, value: unknown): void {
  if (context.over) return;
  const { limits } = context;
  const key = readName(name, limits.maxExportNameChars);
  const json = toJson(
    `The value of the export '${key}'`,
    key === SUMMARY ? summaryOf(value, limits.maxSummaryChars) : (value ?? null),
  );
  const { maxExportBytes } = limits;
  const bytes = utf8LengthUpTo(json, limits.maxRunOutputBytes);
  if (bytes > maxExportBytes) throw limitError({ name: 'maxExportBytes', value: maxExportBytes, used: bytes });
  runs.takeBytes(context, bytes + key.length + limits.dbEntryOverheadBytes);
  bridge.post({ kind: 'step-export', run: context.run, name: key, value: json });
  if (key !== SUMMARY) context.tellLoss?.(`The export '${key}'`, value);
}

function readName(name: unknown, maxChars: number): string {
  if (typeof name !== 'string' || name === '')
    throw new TypeError('$.export takes a name (a non-empty text) and a value');
  if (name.length > maxChars) throw limitError({ name: 'maxExportNameChars', value: maxChars, used: name.length });
  // Not with `includes`, which a component can patch: let through, the name would end the whole
  // process.
  for (let index = 0; index < RESERVED_EXPORTS.length; index += 1)
    if (name === RESERVED_EXPORTS[index]) throw new TypeError(`'${name}' cannot be the name of an export`);
  return name;
}

// For people: a long one is cut, not refused.
function summaryOf(value: unknown, maxChars: number): string {
  const text = isObjectValue(value) ? toJson('The summary', value) : toText(value ?? '');
  return text.length > maxChars ? `${sliceText(text, 0, maxChars - 1)}…` : text;
}
