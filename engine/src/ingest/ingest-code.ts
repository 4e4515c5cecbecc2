/** A source for events from the API. A manual run emits its event too. */
export const INGEST_CODE = `// Events come from POST /v1/sources/{id}/events, and need no code.
export default {
  name: 'Events',
  description: 'Emits the events that the API is given for it.',
  version: '1.0.0',
  async run(event) {
    this.$emit(event);
  },
};
`;
