/** Sends one request to any URL and answers what came back. */
const DEFAULT_TIMEOUT_SECONDS = 30;

export default {
  name: 'Send an HTTP request',
  key: 'http-send-request',
  version: '0.1.0',
  type: 'action',
  description: 'Sends a request to any URL and returns status, headers and body of the answer.',
  props: {
    url: { type: 'string', label: 'URL', description: 'With `https://` or `http://` at its beginning.' },
    method: {
      type: 'string',
      label: 'Method',
      options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      optional: true,
      default: 'GET',
    },
    query: { type: 'object', label: 'Query parameters', description: 'Added to those of the URL.', optional: true },
    headers: { type: 'object', label: 'Headers', optional: true },
    body: {
      type: 'any',
      label: 'Body',
      description: 'Text is sent as it is, anything else as JSON. Not sent with `GET` and `HEAD`.',
      optional: true,
    },
    bearerToken: {
      type: 'string',
      label: 'Bearer token',
      description: 'Sent as `Authorization: Bearer …`.',
      secret: true,
      optional: true,
    },
    failOnError: {
      type: 'boolean',
      label: 'Fail where the status says so',
      description: 'A status of 400 or more fails the step.',
      optional: true,
      default: true,
    },
    timeoutSeconds: {
      type: 'integer',
      label: 'Timeout in seconds',
      min: 1,
      max: DEFAULT_TIMEOUT_SECONDS,
      optional: true,
      default: DEFAULT_TIMEOUT_SECONDS,
    },
  },
  methods: {
    address() {
      const url = new URL(this.url);
      for (const [name, value] of Object.entries(this.query ?? {}))
        for (const one of [value].flat()) url.searchParams.append(name, String(one));
      return url;
    },
    request() {
      const method = this.method ?? 'GET';
      const headers = new Headers(this.headers ?? {});
      if (this.bearerToken) headers.set('authorization', `Bearer ${this.bearerToken}`);
      const timeoutMs = (this.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
      const init = { method, headers, signal: AbortSignal.timeout(timeoutMs) };
      if (this.body === undefined || this.body === null || method === 'GET' || method === 'HEAD') return init;
      if (typeof this.body === 'string') return { ...init, body: this.body };
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return { ...init, body: JSON.stringify(this.body) };
    },
  },
  async run({ $ }) {
    const { method, ...init } = this.request();
    const response = await fetch(this.address(), { method, ...init });
    const body = parseBody(response.headers.get('content-type') ?? '', await response.text());
    if (this.failOnError !== false && response.status >= 400) {
      const shown = typeof body === 'string' ? body : JSON.stringify(body);
      throw new Error(`${method} ${this.url} answered with status ${response.status}: ${shown.slice(0, 500)}`);
    }
    $.export('$summary', `${method} ${this.url} answered with status ${response.status}`);
    return { status: response.status, headers: Object.fromEntries(response.headers), body };
  },
};

/** JSON where the answer says so and it is. */
function parseBody(contentType, text) {
  if (!/\bjson\b/i.test(contentType)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // what came is still of use
  }
}
