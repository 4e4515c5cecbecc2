import { type Fault, platformLimit, readMembers } from '@headwater/shared';

/** `plain`: the message without given values, if `message` repeats some. */
export type Read<T> = { ok: true; value: T } | ({ ok: false; plain?: string } & Fault);

/**
 * Members of the argument of `$.send`; those of `raw` as JSON text. The text comes out of the
 * sandbox: the guest has checked it, but the guest may be compromised.
 */
export async function readPayload<N extends string, R extends string>(
  json: string,
  { parsed, raw }: { parsed: readonly N[]; raw: readonly R[] },
): Promise<Read<Partial<Record<N, unknown>> & Partial<Record<R, string>>>> {
  const members: Partial<Record<string, string>> | undefined = await readMembers(json, [...parsed, ...raw]);
  if (members === undefined) return { ok: false, message: 'What was given to $.send is not an object' };
  const small = parsed.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]] as const]));
  const chars = small.reduce((sum, [, text]) => sum + text.length, 0);
  const limit = platformLimit('maxSendHeadChars', chars);
  if (limit.used > limit.value) {
    const message = `${parsed.join(', ')} are longer than ${limit.value} characters together, as JSON`;
    return { ok: false, message, limit };
  }
  const values = small.map(([name, text]) => [name, JSON.parse(text) as unknown] as const);
  const texts = raw.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]] as const]));
  return { ok: true, value: Object.fromEntries([...values, ...texts]) as Record<N, unknown> & Record<R, string> };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
