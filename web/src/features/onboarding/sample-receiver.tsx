import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Empty, STEP_CLASS } from '../../ui/empty.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Received } from './received.tsx';
import { sampleReceiverQuery, sampleRequestsQuery } from './sample-queries.ts';

/** A receiver of this instance: shows deliveries as they arrive. */
export function SampleReceiver() {
  const { request } = useSearch({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const receiver = useQuery(sampleReceiverQuery());
  const received = useQuery(sampleRequestsQuery());
  const clearing = useMutation({
    mutationFn: () => api.delete('/v1/sample_receiver/requests'),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sample-requests'] }),
  });
  const url = receiver.data?.url;
  const { data: requests } = received;
  return (
    <Page
      title="Sample receiver"
      actions={
        <>
          <CopyMenu command={{ path: '/v1/sample_receiver/requests?limit=50', hw: 'hw receiver requests' }} />
          <Button
            needs="change"
            busy={clearing.isPending}
            disabled={requests?.length === 0}
            onClick={() => clearing.mutate()}
          >
            Clear
          </Button>
        </>
      }
    >
      <ProblemNote error={receiver.error ?? received.error ?? clearing.error} />
      <Panel title="Its URL">
        <div className="flex flex-col gap-2 p-4">
          <p className="flex min-h-7 items-center gap-1">
            <code className="min-w-0 font-mono text-xs break-all">{url}</code>
            {url !== undefined && <CopyButton text={url} what="URL of the sample receiver" />}
          </p>
          <p className="text-sm text-ink-soft">
            Make a{' '}
            <Link to="/webhooks" search={{ action: 'create', url }} className="text-accent underline">
              webhook
            </Link>{' '}
            with this URL to try deliveries before you have a receiver of your own. It takes deliveries of this account
            alone, keeps the newest 100 for a day, and checks each signature.
          </p>
        </div>
      </Panel>
      <Panel title="Received">
        {requests === undefined && <SkeletonRows rows={4} />}
        {requests?.length === 0 && (
          <Empty
            icon="webhook"
            title="Nothing yet"
            command={url === undefined ? 'hw receiver requests' : `hw webhooks create ${url}`}
            action={
              <Link to="/webhooks" search={{ action: 'create', url }} className={STEP_CLASS}>
                New webhook to this URL
              </Link>
            }
          >
            What your webhooks deliver to this URL appears here as it comes.
          </Empty>
        )}
        {requests !== undefined && requests.length > 0 && (
          <Received
            requests={requests}
            selected={request}
            onSelect={(id) =>
              void navigate({ to: '/sample-receiver', search: id === undefined ? {} : { request: id }, replace: true })
            }
          />
        )}
      </Panel>
    </Page>
  );
}
