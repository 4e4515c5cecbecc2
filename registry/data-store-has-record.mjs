/** Says whether a key is in a data store. */
export default {
  name: 'Check for a record',
  key: 'data_store-has-record',
  version: '0.1.0',
  type: 'action',
  description: 'Returns whether a key is there; for dropping what was seen before, it can add it in the same step.',
  props: {
    dataStore: { type: 'data_store', label: 'Data store' },
    key: { type: 'string', label: 'Key' },
    addIfMissing: {
      type: 'boolean',
      label: 'Add it where it is missing',
      description: 'With the value true.',
      optional: true,
      default: false,
    },
    exitIfThere: {
      type: 'boolean',
      label: 'End the workflow where it is there',
      optional: true,
      default: false,
    },
  },
  async run({ $ }) {
    const isThere = await this.dataStore.has(this.key);
    if (isThere && this.exitIfThere) return $.flow.exit(`${this.key} is there already`);
    if (!isThere && this.addIfMissing) await this.dataStore.set(this.key, true);
    $.export('$summary', isThere ? `${this.key} is there` : `There is no ${this.key}`);
    return isThere;
  },
};
