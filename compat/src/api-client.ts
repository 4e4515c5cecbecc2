/** Server that saves the components. */
export interface Target {
  /** `http://127.0.0.1:3000` */
  url: string;
  apiKey: string;
}

export type SaveOutcome = { ok: true; id: string } | { ok: false; status: number; message: string };

interface Problem {
  detail?: string;
  error?: string;
  errors?: { path?: string; message?: string; file?: string; line?: number }[];
}

/** Longer than the server takes to install packages and to load the bundle. */
const SAVE_TIMEOUT_MS = 300_000;

/**
 * Saves code as a component. Resolves with any answer of the server; `status` is 0 without an
 * answer.
 */
export async function saveComponent(target: Target, code: string): Promise<SaveOutcome> {
  try {
    const response = await fetch(`${target.url}/v1/components`, {
      method: 'POST',
      headers: { authorization: `Bearer ${target.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ component_code: code }),
      signal: AbortSignal.timeout(SAVE_TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) return { ok: false, status: response.status, message: messageOf(text) };
    return { ok: true, id: (JSON.parse(text) as { data: { id: string } }).data.id };
  } catch (error) {
    return { ok: false, status: 0, message: error instanceof Error ? error.message : String(error) };
  }
}

/** Everything the answer complains of, a line each. */
function messageOf(text: string): string {
  try {
    const { detail, error, errors = [] } = JSON.parse(text) as Problem;
    const lines = errors.map(({ path = '', message = '', file, line }) => {
      const place = file === undefined || line === undefined ? '' : `${file}:${line}: `;
      return path === 'component_code' || path === '' ? `${place}${message}` : `${place}${path}: ${message}`;
    });
    return lines.length > 0 ? lines.join('\n') : (detail ?? error ?? text);
  } catch {
    // No JSON: a proxy in between, or a server that broke off.
    return text.slice(0, 500);
  }
}
