/** Source as a user would write it to turn requests into events. */
export const EMITTING_SOURCE = `export default {
  name: 'Bench source',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit(event.body, { id: event.body.id, summary: 'order ' + event.body.id });
  },
};
`;

export const SILENT_SOURCE = `export default {
  name: 'Bench source that emits nothing',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {},
};
`;

/** Answers a JSON body with the same JSON. */
export const ANSWERING_SOURCE = `export default {
  name: 'Bench source that answers itself',
  version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run(event) {
    this.http.respond({ status: 200, headers: { 'content-type': 'application/json' }, body: event.body });
  },
};
`;
