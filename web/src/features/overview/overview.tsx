import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, ask } from '../../api/client.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';

const QUOTAS = ['sources', 'workflows', 'webhooks', 'subscriptions'] as const;

export function Overview() {
  const user = useQuery({
    queryKey: ['user'],
    queryFn: ({ signal }) => ask(api.GET('/v1/users/me', { signal })).then(({ data }) => data),
  });
  return (
    <Page title="Overview">
      <ProblemNote error={user.error} />
      <Panel title="Use">
        {user.isPending && <SkeletonRows rows={4} />}
        {user.data !== undefined && (
          <dl className="grid grid-cols-2 gap-px bg-line md:grid-cols-4">
            {QUOTAS.map((name) => (
              <div key={name} className="bg-surface p-4">
                <dt className="text-xs text-ink-faint capitalize">{name}</dt>
                <dd className="text-xl font-semibold tabular-nums">
                  {name !== 'subscriptions' ? (
                    <Link to={`/${name}`}>{user.data.quotas[name].used}</Link>
                  ) : (
                    user.data.quotas[name].used
                  )}
                  <span className="text-sm font-normal text-ink-faint">
                    {' '}
                    of {user.data.quotas[name].limit ?? 'any number'}
                  </span>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Panel>
    </Page>
  );
}
