/**
 * GitHub webhook: verifies the signature of every delivery and emits what is new.
 *
 * Deploy it (KEY is your API key), with a secret of your own:
 *
 *   curl http://127.0.0.1:3000/v1/sources -H "Authorization: Bearer $KEY" \
 *     --data-urlencode component_code@examples/github-webhook.mjs \
 *     --data-urlencode 'configured_props={"secret":"a long random text"}'
 *
 * Then add a webhook to the repository (Settings, Webhooks): the payload URL is
 * `data.configured_props.http.endpoint_url` of the answer, the secret is the same, and either
 * content type will do.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE_PREFIX = 'sha256=';

export default {
  name: 'GitHub webhook',
  key: 'github-webhook',
  version: '0.1.0',
  type: 'source',
  description: 'Receives signed webhook deliveries of a GitHub repository or organization.',
  // A redelivery (by hand or after a timeout) has the same delivery id: it is emitted once.
  dedupe: 'unique',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    secret: {
      type: 'string',
      label: 'Secret',
      description: "The secret of the webhook's settings on GitHub.",
      secret: true,
    },
    channelPerEvent: {
      type: 'boolean',
      label: 'A channel per event type',
      description: 'Emit to the channel `push`, `issues` and so on instead of the default channel.',
      optional: true,
      default: false,
    },
  },
  methods: {
    answer(status, message) {
      return this.http.respond({ status, body: { message } });
    },
    isSigned(event) {
      // A signature is made over bytes, and these are the ones that were sent, in any charset.
      const sent = Buffer.from(event.bodyRaw, event.isBase64Encoded ? 'base64' : 'utf8');
      const expected = SIGNATURE_PREFIX + createHmac('sha256', this.secret).update(sent).digest('hex');
      return isSameText(event.headers['x-hub-signature-256'] ?? '', expected);
    },
  },
  async run(event) {
    if (!this.isSigned(event)) {
      console.warn('A request without a valid signature was refused');
      return this.answer(401, 'The signature is missing or wrong');
    }
    const type = event.headers['x-github-event'];
    const delivery = event.headers['x-github-delivery'];
    const payload = readPayload(event);
    if (!type || !delivery || payload === undefined) return this.answer(400, 'This is not a GitHub delivery');
    if (type === 'ping') return this.answer(200, `pong: ${payload.zen ?? ''}`);

    this.$emit(
      { event: type, delivery, payload },
      {
        id: delivery,
        summary: summarize(type, payload),
        ...(this.channelPerEvent ? { name: type } : {}),
      },
    );
    return this.answer(202, 'Accepted');
  },
};

/**
 * Compares in a time that does not depend on where the texts differ. Their lengths are no secret.
 */
function isSameText(a, b) {
  const encoder = new TextEncoder();
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The JSON of the body, or of the form field `payload`. Undefined where there is none. */
function readPayload({ body }) {
  if (typeof body?.payload === 'string') {
    try {
      return JSON.parse(body.payload);
    } catch {
      return undefined; // answered as a bad request
    }
  }
  return typeof body === 'object' && body !== null ? body : undefined;
}

function summarize(type, payload) {
  const where = payload.repository?.full_name ?? payload.organization?.login ?? 'GitHub';
  switch (type) {
    case 'push':
      return summarizePush(payload, where);
    case 'issues':
      return `Issue #${payload.issue?.number} ${payload.action} in ${where}: ${payload.issue?.title}`;
    case 'issue_comment':
      return `Comment ${payload.action} on #${payload.issue?.number} in ${where} by ${payload.comment?.user?.login}`;
    case 'pull_request':
      return `Pull request #${payload.number} ${payload.action} in ${where}: ${payload.pull_request?.title}`;
    case 'release':
      return `Release ${payload.release?.tag_name} ${payload.action} in ${where}`;
    case 'star':
      return `Star ${payload.action} in ${where} by ${payload.sender?.login}`;
    default:
      return `${type}${payload.action ? ` ${payload.action}` : ''} in ${where}`;
  }
}

function summarizePush({ ref = '', commits = [], deleted, pusher }, where) {
  const branch = ref.replace(/^refs\/(heads|tags)\//, '');
  if (deleted) return `${pusher?.name} deleted ${branch} of ${where}`;
  const count = `${commits.length} commit${commits.length === 1 ? '' : 's'}`;
  return `${pusher?.name} pushed ${count} to ${branch} of ${where}`;
}
