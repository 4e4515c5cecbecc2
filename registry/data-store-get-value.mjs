/** Answers the value of one key of a data store. */
export default {
  name: 'Get a value',
  key: 'data_store-get-value',
  version: '0.1.0',
  type: 'action',
  description: 'Reads the value of a key, or a value of your choice where there is none.',
  props: {
    dataStore: { type: 'data_store', label: 'Data store' },
    key: { type: 'string', label: 'Key' },
    fallback: {
      type: 'any',
      label: 'Otherwise',
      description: 'What is returned where the key is not there.',
      optional: true,
    },
  },
  async run({ $ }) {
    const isThere = await this.dataStore.has(this.key);
    const value = isThere ? await this.dataStore.get(this.key) : this.fallback;
    $.export('$summary', isThere ? `Found ${this.key}` : `There is no ${this.key}`);
    return value;
  },
};
