/**
 * Takes webhooks of anybody at its endpoint, sends them on to a URL, and emits each with what that
 * URL answered.
 */
const TIMEOUT_MS = 20_000;
/** Headers that concern a single hop, or that the new request sets itself. */
const NOT_FORWARDED = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export default {
  name: 'Webhook relay',
  key: 'http-webhook-relay',
  version: '0.1.0',
  type: 'source',
  description:
    'Answers every request to its endpoint at once, emits it, and sends it on to a URL with method, path, query, headers and body.',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    targetUrl: {
      type: 'string',
      label: 'Target URL',
      description: 'Where requests are sent on to. Path and query of a request are added to it.',
    },
    forwardHeaders: {
      type: 'boolean',
      label: 'Send headers on',
      description: 'Off: only the content type is sent on.',
      optional: true,
      default: true,
    },
    secretHeader: {
      type: 'string',
      label: 'Secret',
      description: 'Sent to the target as `x-relay-secret`, so that it can tell the relay from others.',
      secret: true,
      optional: true,
    },
  },
  methods: {
    target({ path, query }) {
      const url = new URL(this.targetUrl);
      if (path !== '/') url.pathname = url.pathname.replace(/\/$/, '') + path;
      for (const [name, value] of Object.entries(query))
        for (const one of [value].flat()) url.searchParams.append(name, one);
      return url;
    },
    headersFor({ headers }) {
      const names = Object.keys(headers).filter((name) =>
        this.forwardHeaders ? !NOT_FORWARDED.has(name) : name === 'content-type',
      );
      const secret = this.secretHeader ? { 'x-relay-secret': this.secretHeader } : {};
      return { ...Object.fromEntries(names.map((name) => [name, headers[name]])), ...secret };
    },
    async forward(event) {
      const { method, bodyRaw } = event;
      const hasBody = bodyRaw !== '' && method !== 'GET' && method !== 'HEAD';
      const body = event.isBase64Encoded ? Buffer.from(bodyRaw, 'base64') : bodyRaw;
      const response = await fetch(this.target(event), {
        method,
        headers: this.headersFor(event),
        ...(hasBody ? { body } : {}),
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { status: response.status, body: await response.text() };
    },
  },
  async run(event) {
    // Before the target is asked: whoever sends webhooks is not to wait for it, nor to repeat what
    // has arrived.
    await this.http.respond({ status: 202, body: { accepted: true } });
    const { method, path, query, headers, body } = event;
    const request = { method, path, query, headers, body };
    try {
      const response = await this.forward(event);
      this.$emit({ request, response }, { summary: `${method} ${path} → ${response.status}` });
    } catch (error) {
      this.$emit({ request, error: error.message }, { name: 'failed', summary: `${method} ${path}: ${error.message}` });
    }
  },
};
