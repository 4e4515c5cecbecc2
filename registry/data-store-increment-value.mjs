/** Adds to a number in a data store. */
export default {
  name: 'Increment a value',
  key: 'data_store-increment-value',
  version: '0.1.0',
  type: 'action',
  description:
    'Adds to a number; a key that is not there counts from 0. Two steps that do so at the same moment may count once.',
  props: {
    dataStore: { type: 'data_store', label: 'Data store' },
    key: { type: 'string', label: 'Key' },
    amount: {
      type: 'string',
      label: 'Amount',
      description: 'A number. A negative one takes away.',
      optional: true,
      default: '1',
    },
  },
  async run({ $ }) {
    const amount = Number(this.amount ?? 1);
    if (!Number.isFinite(amount)) throw new Error(`The amount ${this.amount} is not a number`);
    const before = (await this.dataStore.get(this.key)) ?? 0;
    if (typeof before !== 'number')
      throw new Error(`The value of ${this.key} is not a number and cannot be incremented`);
    const value = before + amount;
    await this.dataStore.set(this.key, value);
    $.export('$summary', `${this.key} is ${value}`);
    return { key: this.key, value };
  },
};
