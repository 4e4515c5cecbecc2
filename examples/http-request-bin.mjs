/**
 * HTTP request bin: every request to its endpoint becomes an event, and is answered as the props
 * say.
 *
 * Deploy it (KEY is your API key):
 *
 *   curl http://127.0.0.1:3000/v1/sources -H "Authorization: Bearer $KEY" \
 *     --data-urlencode component_code@examples/http-request-bin.mjs
 *
 * `data.configured_props.http.endpoint_url` in the answer is where to send requests. To choose the
 * answer, add:
 *
 *     --data-urlencode 'configured_props={"responseStatus":202,"responseBody":"thank you"}'
 */
export default {
  name: 'HTTP request bin',
  key: 'http-request-bin',
  version: '0.1.0',
  type: 'source',
  description: 'Emits every HTTP request that arrives at its endpoint.',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    responseStatus: {
      type: 'integer',
      label: 'Response status',
      description: 'The HTTP status that every request is answered with.',
      min: 200,
      max: 599,
      optional: true,
      default: 200,
    },
    responseBody: {
      type: 'string',
      label: 'Response body',
      description: 'The text that every request is answered with.',
      optional: true,
      default: 'ok\n',
    },
    responseContentType: {
      type: 'string',
      label: 'Response content type',
      optional: true,
      default: 'text/plain; charset=utf-8',
    },
  },
  async run(event) {
    const { method, path, query, headers, body } = event;
    this.$emit({ method, path, query, headers, body }, { summary: `${method} ${path}` });
    await this.http.respond({
      status: this.responseStatus,
      headers: { 'content-type': this.responseContentType },
      body: this.responseBody,
    });
  },
};
