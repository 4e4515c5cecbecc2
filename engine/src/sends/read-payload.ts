export type Read<T> = { ok: true; value: T } | { ok: false; message: string };

/** What came out of the sandbox: the guest has checked it, and the guest may have been replaced. */
export function readObject(json: string): Read<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return { ok: true, value };
  } catch {
    // Said below, as for JSON of another kind.
  }
  return { ok: false, message: 'What was given to $.send is not an object' };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
