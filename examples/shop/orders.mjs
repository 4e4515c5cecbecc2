export default {
  name: 'Orders of the shop',
  key: 'shop-orders',
  version: '0.1.0',
  props: {
    http: '$.interface.http',
    currency: { type: 'string', default: 'EUR' },
  },
  run({ body }) {
    const { id, customer, total } = body;
    this.$emit({ id, customer, total, currency: this.currency }, { id, summary: `Order ${id}` });
  },
};
