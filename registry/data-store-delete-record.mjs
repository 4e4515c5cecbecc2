/** Deletes one record of a data store, or all of them. */
export default {
  name: 'Delete records',
  key: 'data_store-delete-record',
  version: '0.1.0',
  type: 'action',
  description: 'Deletes the record of a key, or all records.',
  props: {
    dataStore: { type: 'data_store', label: 'Data store' },
    key: { type: 'string', label: 'Key', description: 'Not needed to delete all.', optional: true },
    deleteAll: {
      type: 'boolean',
      label: 'Delete all records',
      description: 'Takes effect only where no key is given.',
      optional: true,
      default: false,
    },
  },
  async run({ $ }) {
    if (this.key) {
      const wasThere = await this.dataStore.delete(this.key);
      $.export('$summary', wasThere ? `Deleted ${this.key}` : `There was no ${this.key}`);
      return { deleted: wasThere };
    }
    if (!this.deleteAll) throw new Error('Give a key, or say that all records are to be deleted');
    await this.dataStore.clear();
    $.export('$summary', 'Deleted all records');
    return { deleted: true };
  },
};
