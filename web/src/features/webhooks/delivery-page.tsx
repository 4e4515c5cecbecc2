import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useNames } from '../../api/names.ts';
import { Page } from '../../ui/page.tsx';
import { PendingPage } from '../../ui/pending-page.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import { deliveryQuery } from './webhook-queries.ts';

/** A delivery by its id alone: where the palette and links of others lead. */
export function DeliveryPage() {
  const { id } = useParams({ from: '/shell/deliveries/$id' });
  const names = useNames('webhooks');
  const { data: delivery, error } = useQuery(deliveryQuery(id));
  if (delivery === undefined) {
    return <PendingPage title="Delivery" error={error} list="/webhooks" />;
  }
  const params = { id: delivery.webhook_id };
  return (
    <Page title="Delivery">
      <p className="text-sm text-ink-soft">
        To the webhook{' '}
        <Link to="/webhooks/$id" params={params} search={{ delivery: id }} className="text-accent underline">
          {names.get(delivery.webhook_id) ?? delivery.webhook_id}
        </Link>
      </p>
      <DeliveryDetail delivery={delivery} />
    </Page>
  );
}
