import { MAX_TRANSFORM_HEAD_CHARS } from '../bridge/transform-answer.ts';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import { append, applyFunction, parseJson, stringifyOwn } from './intrinsics.ts';
import { toJson } from './json-value.ts';
import { limitError } from './limit-error.ts';
import type { LoadedComponent } from './load-component.ts';
import { isObjectValue } from './resolve-prop.ts';
import { utf8LengthUpTo } from './utf8.ts';

const RETURN_SOMETHING = 'run must return the request, what is to change of it, or null to drop it';

/**
 * Calls `run` of a transform with the request, and encodes the result for `readTransformAnswer`.
 */
export async function answerTransform(
  component: LoadedComponent,
  self: object,
  requestJson: string,
  { maxResultBytes }: Pick<GuestLimits, 'maxResultBytes'>,
): Promise<string> {
  const request = parseJson(requestJson) as { body: unknown };
  // It may change the request in place.
  const given = request.body;
  const answered: unknown = await applyFunction(component.run, self, [request]);
  if (answered === null) return write({ drop: '' });
  if (!isObjectValue(answered)) throw new TypeError(`${RETURN_SOMETHING}, not ${nameOf(answered)}`);
  const { drop, method, path, headers } = answered;
  if (drop !== undefined && drop !== null && drop !== false)
    return write({ drop: drop === true ? '' : textOf('drop', drop) });
  const body = bodyOf(answered['body'], given);
  const used = utf8LengthUpTo(body ?? '', maxResultBytes);
  if (used > maxResultBytes) throw limitError({ name: 'maxResultBytes', value: maxResultBytes, used });
  const head = {
    ...(method === undefined ? {} : { method: textOf('method', method) }),
    ...(path === undefined ? {} : { path: textOf('path', path) }),
    headers: headersOf(headers),
    hasBody: body !== undefined,
  };
  return write(head, body);
}

function write(head: object, body = ''): string {
  const json = stringifyOwn(head);
  if (json.length > MAX_TRANSFORM_HEAD_CHARS)
    throw new TypeError(`The method, path and headers have more than ${MAX_TRANSFORM_HEAD_CHARS} characters together`);
  return `${json.length}:${json}${body}`;
}

/** A text is sent as it is, anything else as JSON. */
function bodyOf(body: unknown, given: unknown): string | undefined {
  if (body === undefined || (typeof body === 'string' && body === given)) return undefined;
  return typeof body === 'string' ? body : toJson('The body', body);
}

function headersOf(headers: unknown): [name: string, value: string | null][] {
  if (headers === undefined || headers === null) return [];
  if (!isObjectValue(headers)) throw new TypeError(`headers must be an object, not ${nameOf(headers)}`);
  const pairs: [string, string | null][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    append(pairs, [name, value === null ? null : textOf(`headers.${name}`, value)]);
  }
  return pairs;
}

function textOf(what: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return `${value}`;
  throw new TypeError(`${what} must be a text, not ${nameOf(value)}`);
}

function nameOf(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
