import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { AbandonedNote } from '../runs/abandoned-note.tsx';
import { Charts } from './charts.tsx';
import { RangeChoice } from './range-choice.tsx';
import { Rankings } from './rankings.tsx';
import { rangeOf, waitingQuery } from './stat-queries.ts';

const QUOTAS = ['sources', 'workflows', 'webhooks', 'subscriptions'] as const;

const userQuery = {
  queryKey: ['user'],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get('/v1/users/me', { signal }).then(({ data }) => data),
};

/** Activity, failures, waiting work, and usage of the account. */
export function Overview() {
  const { range: asked } = useSearch({ from: '/shell/' });
  const range = rangeOf(asked);
  const navigate = useNavigate({ from: '/' });
  const user = useQuery(userQuery);
  const { quotas } = user.data ?? {};
  const isEmpty = quotas !== undefined && quotas.sources.used + quotas.workflows.used === 0;
  return (
    <Page
      title="Overview"
      actions={
        <>
          <RangeChoice
            range={range}
            onChange={(next) => void navigate({ search: next === 'hour' ? {} : { range: next }, replace: true })}
          />
          <CopyMenu
            command={{ path: '/v1/stats', hw: 'hw stats' }}
            actions={{ Usage: { path: '/v1/usage', hw: 'hw usage' } }}
          />
        </>
      }
    >
      <ProblemNote error={user.error} />
      {user.isPending && <SkeletonRows rows={12} />}
      {/* Their data is on its way meanwhile: shown before, they would move when the first panel comes. */}
      <div className={user.isPending ? 'hidden' : 'contents'}>
        {isEmpty && <Welcome />}
        <Waiting />
        <AbandonedNote />
        <Charts range={range} />
        <Rankings range={range} />
        {quotas !== undefined && (
          <Panel title="Use">
            <dl className="grid grid-cols-2 gap-px bg-line md:grid-cols-4">
              {QUOTAS.map((name) => (
                <Quota key={name} name={name} {...quotas[name]} />
              ))}
            </dl>
          </Panel>
        )}
      </div>
    </Page>
  );
}

function Welcome() {
  return (
    <section className="flex flex-wrap items-center gap-4 rounded-lg border border-accent/40 bg-accent-soft p-5">
      <div className="min-w-56 flex-1">
        <h2 className="text-lg font-semibold">Receive a first event</h2>
        <p className="mt-1 text-sm text-ink-soft">
          Make a source from a template, send it a test request, and see the event delivered, signed, to a receiver that
          comes with this instance. It takes three clicks.
        </p>
      </div>
      <Link
        to="/first-run"
        className="inline-flex h-9 items-center gap-2 rounded-md bg-accent px-4 text-sm font-medium text-on-accent hover:bg-accent-strong"
      >
        <Icon name="play" />
        Start
      </Link>
    </section>
  );
}

/** Nothing is shown while nothing waits: it is what one wants to see. */
function Waiting() {
  const { data } = useQuery(waitingQuery());
  if (data === undefined || (data.run === null && data.delivery === null)) return null;
  return (
    <ul
      aria-label="Oldest waiting"
      className="flex flex-wrap gap-x-6 gap-y-1 rounded-md bg-warn-soft px-4 py-2 text-sm"
    >
      {data.run !== null && (
        <li className="flex items-center gap-2">
          <Icon name="clock" className="size-4 text-warn" />
          <span>
            Oldest waiting run: <EmitterLink id={data.run.emitter_id} name={data.run.name} />,{' '}
            <Time atMs={data.run.since} />
          </span>
        </li>
      )}
      {data.delivery !== null && (
        <li className="flex items-center gap-2">
          <Icon name="clock" className="size-4 text-warn" />
          <span>
            Oldest due delivery:{' '}
            <Link to="/webhooks/$id" params={{ id: data.delivery.webhook_id }} className="underline">
              {data.delivery.name}
            </Link>
            , <Time atMs={data.delivery.since} />
          </span>
        </li>
      )}
    </ul>
  );
}

function EmitterLink({ id, name }: { id: string; name: string }) {
  return (
    <Link to={id.startsWith('p_') ? '/workflows/$id' : '/sources/$id'} params={{ id }} className="underline">
      {name}
    </Link>
  );
}

/** From this share on, the bar warns by colour and in words. */
const NEARLY_FULL = 0.9;

function Quota({ name, used, limit }: { name: (typeof QUOTAS)[number]; used: number; limit: number | null }) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  return (
    <div className="bg-surface p-4">
      <dt className="text-xs text-ink-soft capitalize">{name}</dt>
      <dd className="mt-0.5">
        <span className="text-xl font-semibold tabular-nums">
          <Link to={`/${name}`}>{used}</Link>
        </span>
        <span className="text-sm text-ink-faint"> of {limit ?? 'any number'}</span>
        {share >= NEARLY_FULL && <span className="ml-2 text-xs font-medium text-warn">nearly full</span>}
        <span aria-hidden="true" className="mt-2 block h-1 rounded bg-sunken">
          <span
            className={`block h-1 rounded ${share >= NEARLY_FULL ? 'bg-warn' : 'bg-accent'}`}
            style={{ width: `${share * 100}%` }}
          />
        </span>
      </dd>
    </div>
  );
}
