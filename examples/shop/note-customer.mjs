export default {
  name: 'Note a customer',
  key: 'shop-note-customer',
  version: '0.1.0',
  type: 'action',
  props: {
    customers: { type: 'data_store' },
    customer: { type: 'string' },
  },
  async run() {
    const orders = (await this.customers.get(this.customer)) ?? 0;
    await this.customers.set(this.customer, orders + 1);
    return orders + 1;
  },
};
