/** Sets one key of a data store. */
export default {
  name: 'Set a value',
  key: 'data_store-set-value',
  version: '0.1.0',
  type: 'action',
  description: 'Adds a record, or replaces the value of one that is there.',
  props: {
    dataStore: { type: 'data_store', label: 'Data store' },
    key: { type: 'string', label: 'Key' },
    value: { type: 'any', label: 'Value', description: 'Anything that JSON can hold.' },
    ttlSeconds: {
      type: 'integer',
      label: 'Lifetime in seconds',
      description: 'The record is gone after it. Without it the record stays.',
      min: 1,
      optional: true,
    },
    onlyNew: {
      type: 'boolean',
      label: 'Only where there is none',
      description: 'Leaves a record alone that is there.',
      optional: true,
      default: false,
    },
  },
  async run({ $ }) {
    if (this.onlyNew && (await this.dataStore.has(this.key))) {
      $.export('$summary', `${this.key} is there already`);
      return { key: this.key, value: await this.dataStore.get(this.key), wasSet: false };
    }
    await this.dataStore.set(this.key, this.value, this.ttlSeconds ? { ttl: this.ttlSeconds } : {});
    $.export('$summary', `Set ${this.key}`);
    return { key: this.key, value: this.value, wasSet: true };
  },
};
