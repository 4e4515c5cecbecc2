import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty, NoMatch, STEP_CLASS } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Page } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { isShown, type PropDefinition } from '../props/prop-definition.ts';
import { stepOfComponent } from '../workflows/build/draft.ts';
import { addToNewWorkflow } from '../workflows/build/use-builder.ts';

type Summary = Schemas['RegistryComponentSummary'];

const COLUMNS: readonly Column<Summary>[] = [
  { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span>, className: 'md:w-1/3' },
  { header: 'Key', cell: ({ key }) => <code className="font-mono text-xs">{key}</code>, wide: true },
  { header: 'Type', cell: ({ type }) => type, className: 'w-20' },
  { header: 'Version', cell: ({ version }) => version, className: 'w-24 font-mono text-xs' },
  {
    header: 'Description',
    cell: ({ description }) => <span className="text-ink-soft">{description}</span>,
    wide: true,
  },
];

/** The components that all accounts of the instance may deploy. */
export function RegistryPage() {
  const { q = '', key, version } = useSearch({ from: '/shell/registry' });
  const navigate = useNavigate({ from: '/registry' });
  const words = useDeferredValue(q.trim());
  const list = useInfiniteQuery(
    pagesOf(['registry', words], (query, signal) =>
      api.get('/v1/components/registry', {
        query: { ...query, ...(words === '' ? {} : { q: words }) },
        signal,
      }),
    ),
  );
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const search = (next: { q?: string | undefined; key?: string | undefined; version?: string }) =>
    void navigate({ search: next, replace: true });
  return (
    <Page
      title="Registry"
      actions={
        <>
          <SearchBox
            value={q}
            label="Search the registry"
            onChange={(text) => search(text === '' ? {} : { q: text })}
          />
          <CopyMenu
            command={{
              path: `/v1/components/registry?q=${encodeURIComponent(q)}`,
              ...(q === '' ? { hw: 'hw list registry' } : {}),
            }}
          />
        </>
      }
    >
      <Paged
        list={list}
        count={rows.length}
        empty={
          q === '' ? (
            <Empty
              icon="registry"
              title="The registry is empty"
              command="hw registry import <folder>"
              action={
                <Link to="/sources" search={{ action: 'create' }} className={STEP_CLASS}>
                  New source from code
                </Link>
              }
            >
              Components that are published to the registry appear here, for every account of this instance.
            </Empty>
          ) : (
            <NoMatch noun="component" text={q} places="names, keys and descriptions" onClear={() => search({})} />
          )
        }
      >
        <Table
          label="Components of the registry"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          onOpen={({ id, key: ownKey }) => search({ ...(q === '' ? {} : { q }), key: ownKey ?? id })}
        />
      </Paged>
      {key !== undefined && (
        <ComponentDialog
          id={key}
          version={version}
          onVersion={(chosen) => search({ ...(q === '' ? {} : { q }), key, version: chosen })}
          onClose={() => search(q === '' ? {} : { q })}
        />
      )}
    </Page>
  );
}

interface ComponentDialogProps {
  id: string;
  /** Undefined: the newest. */
  version: string | undefined;
  onVersion: (version: string) => void;
  onClose: () => void;
}

function ComponentDialog({ id, version, onVersion, onClose }: ComponentDialogProps) {
  const query = version === undefined ? {} : { version };
  const component = useQuery({
    queryKey: ['registry-component', id, version],
    queryFn: ({ signal }) =>
      api.get('/v1/components/registry/{id}', { path: { id }, query, signal }).then(({ data }) => data),
    placeholderData: (last) => last,
  });
  const { data } = component;
  const navigate = useNavigate();
  const useInWorkflow = (action: Schemas['RegistryComponent']) => {
    const step = addToNewWorkflow((taken) => stepOfComponent(action, taken));
    return navigate({ to: '/workflows/new', search: { step } });
  };
  return (
    <Dialog open onClose={onClose} wide title={data?.name ?? id}>
      <ProblemNote error={component.error} />
      {component.isPending && <SkeletonRows rows={4} />}
      {data !== undefined && (
        <div className="flex flex-col gap-4 text-sm">
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-soft">
            <code className="font-mono text-xs">{data.key}</code>
            <label className="flex items-center gap-2 text-xs">
              Version
              <select className={FILTER_CLASS} value={data.version} onChange={({ target }) => onVersion(target.value)}>
                {data.versions.map((one, index) => (
                  <option key={one} value={one}>
                    {one}
                    {index === 0 ? ' (newest)' : ''}
                  </option>
                ))}
              </select>
            </label>
            {data.published_at !== null && (
              <span className="text-xs">
                published <Time atMs={data.published_at * 1000} />
              </span>
            )}
          </p>
          {data.description !== null && <Markdown text={data.description} />}
          {data.type === 'action' && (
            <Button kind="primary" className="self-start" onClick={() => void useInWorkflow(data)}>
              Use in a new workflow
            </Button>
          )}
          {data.type === 'source' && (
            <Link
              to="/sources"
              search={{ action: 'create', key: version === undefined ? id : data.id }}
              className={`${STEP_CLASS} self-start`}
            >
              Deploy as a source
            </Link>
          )}
          <PropList definitions={data.configurable_props as unknown as PropDefinition[]} />
          <CodeView value={data.code} label="Code" language="typescript" />
        </div>
      )}
    </Dialog>
  );
}

/** Props that a user is asked for. */
function PropList({ definitions }: { definitions: readonly PropDefinition[] }) {
  const asked = definitions.filter(isShown);
  if (asked.length === 0) return null;
  return (
    <section aria-label="Props" className="flex flex-col gap-2">
      <h3 className="font-semibold">Props</h3>
      <ul className="divide-y divide-line rounded-md border border-line">
        {asked.map(({ name, type, label, description, optional }) => (
          <li key={name} className="flex flex-col gap-1 px-3 py-2">
            <span className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-medium">{label ?? name}</span>
              <code className="font-mono text-xs text-ink-soft">
                {name}: {type}
              </code>
              {optional === true && <span className="text-xs text-ink-soft">optional</span>}
            </span>
            {description !== undefined && <Markdown text={description} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
