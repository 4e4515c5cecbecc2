import { Link } from '@tanstack/react-router';
import { parseExact } from '../../api/exact-json.ts';
import { Below, CloseDetail } from '../../ui/beside.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { SampleRequest } from './sample-queries.ts';

const PREVIEW_CHARS = 200;

const COLUMNS: readonly Column<SampleRequest>[] = [
  { header: 'Received', cell: ({ received_at: at }) => <Time atMs={at} form="clock" />, className: 'w-32' },
  {
    header: 'Signature',
    cell: (request) => <Verdict request={request} short />,
    className: 'w-44',
  },
  {
    header: 'Body',
    cell: ({ body }) => <bdi className="font-mono text-xs text-ink-soft">{body.slice(0, PREVIEW_CHARS)}</bdi>,
  },
];

function Verdict({ request, short = false }: { request: SampleRequest; short?: boolean }) {
  const label = request.verified ? 'signature verified' : short ? 'not verified' : request.verdict;
  return <Status of={request.verified ? 'ok' : 'failed'} label={label} />;
}

interface ReceivedProps {
  requests: readonly SampleRequest[];
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}

/** Requests that the sample receiver got, and one of them in detail. */
export function Received({ requests, selected, onSelect }: ReceivedProps) {
  const chosen = requests.find(({ id }) => id === selected);
  return (
    <>
      <Table
        label="Received"
        columns={COLUMNS}
        rows={requests}
        keyOf={({ id }) => id}
        selected={selected}
        onOpen={({ id }) => onSelect(id === selected ? undefined : id)}
      />
      <Below isOpen={chosen !== undefined} title="Request" onClose={() => onSelect(undefined)}>
        {chosen !== undefined && <RequestDetail request={chosen} onClose={() => onSelect(undefined)} />}
      </Below>
    </>
  );
}

function RequestDetail({ request, onClose }: { request: SampleRequest; onClose: () => void }) {
  const { id, webhook_id: webhookId, headers, body, body_bytes: bodyBytes } = request;
  const isWhole = new TextEncoder().encode(body).length >= bodyBytes;
  return (
    <section aria-label="Request" className="border-t border-line bg-sunken">
      <div className="flex flex-col gap-4 p-4">
        <p className="flex flex-wrap items-center gap-2 text-sm">
          <Verdict request={request} />
          <span>
            sent by{' '}
            <Link to="/webhooks/$id" params={{ id: webhookId }} className="text-accent underline">
              {webhookId}
            </Link>
          </span>
          <span className="ml-auto">
            <CloseDetail onClose={onClose} />
          </span>
        </p>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 font-mono text-xs">
          {Object.entries(headers).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-code-key">{name}</dt>
              <dd className="break-all">{value}</dd>
            </div>
          ))}
        </dl>
        <div>
          <p className="mb-1 flex items-center gap-2 text-xs text-ink-soft">
            Body, {bodyBytes.toLocaleString()} bytes{isWhole ? '' : `, of which the first ${body.length} are kept`}
            <CopyButton text={body} what="body" />
          </p>
          <JsonTree key={id} value={valueOf(body)} label="Body" maxHeight={360} />
        </div>
      </div>
    </section>
  );
}

/** A body that is cut is no JSON any more, and is shown as the text it is. */
function valueOf(body: string): unknown {
  try {
    return parseExact(body);
  } catch {
    return body;
  }
}
