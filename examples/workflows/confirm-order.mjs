/**
 * The last step of `order-intake.json`: answers the client, and sends an event to the subscribers
 * of the workflow.
 */
export default {
  name: 'Confirm an order',
  key: 'orders-confirm',
  version: '0.1.0',
  type: 'action',
  description: 'Answers the request of an order and emits it.',
  props: {
    number: { type: 'integer', label: 'Number of the order' },
    totalInCents: { type: 'integer', label: 'Total in cents' },
  },
  run({ $ }) {
    const order = { number: this.number, total_in_cents: this.totalInCents };
    // Both happen when the workflow ends, so not at all if it fails before.
    $.respond({ status: 201, headers: { location: `/orders/${order.number}` }, body: order });
    $.send.emit(order);
    $.export('$summary', `Order ${order.number}`);
    return order;
  },
};
