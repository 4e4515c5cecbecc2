/**
 * The first step of `order-intake.json`: what an order costs. Items look like `{ "name": "weir",
 * "count": 2 }`.
 *
 * Make the workflow (`npx hw login` first; WAREHOUSE_URL is where orders go):
 *
 *   npx hw env set WAREHOUSE_URL=https://warehouse.example.com
 *   npx hw workflows create examples/workflows/order-intake.json
 *
 * and send an order to the endpoint that it shows:
 *
 *   curl "$ENDPOINT" -H 'content-type: application/json' -d '{"items":[{"name":"weir","count":2}]}'
 */
export default {
  name: 'Price an order',
  key: 'orders-price',
  version: '0.1.0',
  type: 'action',
  description: 'Adds up what the items of an order cost, and ends the workflow where they cannot be sold.',
  props: {
    items: { type: 'any', label: 'Items', optional: true },
    pricesInCents: { type: 'object', label: 'Prices in cents', description: 'By the name of the item.' },
  },
  methods: {
    refuse($, message) {
      $.respond({ status: 422, body: { error: message } });
      return $.flow.exit(message);
    },
  },
  run({ $ }) {
    const items = Array.isArray(this.items) ? this.items : [];
    if (items.length === 0) return this.refuse($, 'The order has no items');
    const wrong = items.find(({ name, count }) => !Object.hasOwn(this.pricesInCents, name) || !(count > 0));
    if (wrong) return this.refuse($, `${JSON.stringify(wrong)} cannot be ordered`);
    const lines = items.map(({ name, count }) => ({ name, count, cents: count * this.pricesInCents[name] }));
    const totalInCents = lines.reduce((sum, { cents }) => sum + cents, 0);
    $.export('$summary', `${lines.length} items for ${totalInCents / 100}`);
    return { lines, totalInCents };
  },
};
