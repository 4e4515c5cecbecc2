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
