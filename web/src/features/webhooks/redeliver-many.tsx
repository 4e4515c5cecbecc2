import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { hwLine, isoOf } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import type { DeliveryFilter, Webhook } from './webhook-queries.ts';

interface RedeliverManyProps {
  webhook: Webhook;
  filter: DeliveryFilter;
}

/**
 * Failed deliveries within the filter of the list go out anew, once the reader has seen how many
 * they are.
 */
export function RedeliverMany({ webhook, filter }: RedeliverManyProps) {
  const [isAsking, setAsking] = useState(false);
  const [done, setDone] = useState<number>();
  return (
    <>
      {done !== undefined && (
        <p role="status" className="text-sm text-ink-soft">
          {done === 1 ? '1 delivery goes out anew.' : `${done} deliveries go out anew.`}
        </p>
      )}
      <Button needs="change" onClick={() => setAsking(true)}>
        <Icon name="retry" />
        Send all failed again
      </Button>
      {isAsking && (
        <Ask
          webhook={webhook}
          filter={filter}
          onClose={(count) => {
            setAsking(false);
            setDone(count);
          }}
        />
      )}
    </>
  );
}

function Ask({ webhook, filter, onClose }: RedeliverManyProps & { onClose: (count?: number) => void }) {
  const { id, name, url } = webhook;
  const queries = useQueryClient();
  const { since, until, error_class: errorClass } = filter;
  const choice = {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(errorClass === undefined ? {} : { error_class: errorClass }),
  };
  const request = (body: object) =>
    api.post('/v1/webhooks/{id}/redeliver', { path: { id }, body }).then(({ data }) => data.count);
  const counted = useQuery({
    queryKey: ['redeliverable', id, choice],
    queryFn: () => request({ ...choice, dry_run: true }),
    gcTime: 0,
  });
  const sending = useMutation({
    mutationFn: () => request(choice),
    onSuccess: async (count) => {
      onClose(count);
      await queries.invalidateQueries({ queryKey: ['deliveries'] });
    },
  });
  const count = counted.data;
  const isNarrowed = Object.keys(choice).length > 0;
  return (
    <Dialog open onClose={() => onClose()} title="Send failed deliveries again">
      <ProblemNote error={counted.error ?? sending.error} />
      {counted.isPending && <SkeletonRows rows={1} />}
      {count === 0 && (
        <p className="text-sm">
          No delivery of {name ?? url} has failed{isNarrowed ? ' within the filter' : ''}. A pending one is attempted
          again by itself; “Retry now” does so at once.
        </p>
      )}
      {count !== undefined && count > 0 && (
        <p className="text-sm">
          <strong>{count === 1 ? '1 failed delivery' : `${count} failed deliveries`}</strong> of {name ?? url}
          {isNarrowed ? ' within the filter' : ''} {count === 1 ? 'is' : 'are'} sent again, oldest first. The header{' '}
          <code className="font-mono text-xs">webhook-id</code> stays the same.
        </p>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <CopyMenu
          command={{
            method: 'POST',
            path: `/v1/webhooks/${id}/redeliver`,
            body: choice,
            hw: hwLine(['webhooks', 'redeliver', id], { since: isoOf(since), until, 'error-class': errorClass }),
          }}
        />
        <Button onClick={() => onClose()}>Cancel</Button>
        <Button
          kind="primary"
          busy={sending.isPending}
          disabled={count === undefined || count === 0}
          onClick={() => sending.mutate()}
        >
          {count === undefined || count === 0 ? 'Redeliver' : `Redeliver ${count}`}
        </Button>
      </div>
    </Dialog>
  );
}
