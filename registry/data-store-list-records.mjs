/** Answers the records of a data store. */
export default {
  name: 'List records',
  key: 'data_store-list-records',
  version: '0.1.0',
  type: 'action',
  description: 'Returns the records of a data store, in the order of their keys.',
  props: {
    dataStore: { type: 'data_store', label: 'Data store' },
    prefix: {
      type: 'string',
      label: 'Prefix',
      description: 'Only keys that begin with it.',
      optional: true,
    },
    keysOnly: { type: 'boolean', label: 'Keys alone', optional: true, default: false },
    limit: {
      type: 'integer',
      label: 'Limit',
      description: 'How many at most.',
      min: 1,
      max: 10_000,
      optional: true,
      default: 1000,
    },
  },
  async run({ $ }) {
    const records = [];
    // A page at a time: the store may hold more than this step has memory for.
    for await (const [key, value] of this.dataStore) {
      if (!key.startsWith(this.prefix ?? '')) continue;
      records.push(this.keysOnly ? key : { key, value });
      if (records.length >= (this.limit ?? 1000)) break;
    }
    $.export('$summary', `${records.length} records`);
    return records;
  },
};
